"""What a Honcho knows before a test begins, put there by its own API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from support.honcho import Remote


@dataclass(frozen=True)
class Known:
    """Knowledge of the peer ``ann`` as the peer ``bot`` sees her, in one workspace."""

    remote: Remote
    workspace: str

    def session(self, name: str = "s") -> None:
        """Make a session with both peers in it."""
        self.remote.ask("POST", "/v3/workspaces", {"id": self.workspace})
        peers = {"ann": {"observe_me": True}, "bot": {"observe_me": True, "observe_others": True}}
        self.remote.ask("POST", f"{self._base}/sessions", {"id": name, "peers": peers})

    def concludes(self, *contents: str, observer: str = "bot", session: str | None = "s") -> None:
        """Conclusions about ann."""
        rows = [
            {"content": content, "observer_id": observer, "observed_id": "ann", "session_id": session}
            for content in contents
        ]
        self.remote.ask("POST", f"{self._base}/conclusions", {"conclusions": rows})

    def card(self, lines: Sequence[str], *, observer: str = "bot") -> None:
        """The card that the observer holds of ann."""
        self.remote.ask("PUT", f"{self._base}/peers/{observer}/card?target=ann", {"peer_card": list(lines)})

    @property
    def _base(self) -> str:
        return f"/v3/workspaces/{self.workspace}"

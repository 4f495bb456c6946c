"""One daemon for all tests of a module that only change its hosts: starting one takes its time."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from honchod.client import Client
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Exchange, Network


@dataclass(frozen=True)
class Configured:
    """The daemon as one test has it: hosts of its own, in a workspace that nobody used before."""

    daemon: DaemonProcess
    network: Network
    remote: Remote
    client: Client
    hosts: dict[str, Any]

    @property
    def workspace(self) -> str:
        """Where its default host writes."""
        return str(self.hosts["workspace"])

    def seen(self) -> list[Exchange]:
        """The requests to its workspace and those whose names begin like it."""
        return [one for one in self.network.seen() if one.workspace.startswith(self.workspace)]

    def sent(self, session: str | None = None) -> list[Exchange]:
        """Those that brought messages."""
        return [one for one in self.seen() if one.sends_messages and session in (None, one.session)]

    def spoken(self, session: str = "s") -> list[tuple[str, str]]:
        """Who said what, once nothing waits any more."""
        self.daemon.wait_for_delivery()
        return self.remote.speakers(self.workspace, session)

    def contents(self, session: str = "s") -> list[str]:
        """What was said, once nothing waits any more."""
        return [content for _, content in self.spoken(session)]


class SharedDaemon:
    """Starts when it is first asked for. Close it with its module."""

    def __init__(self, network: Network, remote: Remote) -> None:
        self._network = network
        self._remote = remote
        self._daemon: DaemonProcess | None = None
        self._client: Client | None = None

    def configured(self, *, hosts: dict[str, dict[str, Any]] | None = None, **keys: Any) -> Configured:
        """Give the daemon these keys at the root and these host blocks (``workspace`` is made up)."""
        root: dict[str, Any] = {
            "baseUrl": self._network.url,
            "workspace": f"honchod-test-{uuid.uuid4().hex[:12]}",
            "peerName": "ann",
            "aiPeer": "bot",
            **({"apiKey": self._remote.key} if self._remote.key else {}),
            **keys,
            "hosts": hosts or {},
        }
        if self._daemon is None:
            self._daemon = DaemonProcess(root)
            self._daemon.start()
            self._client = self._daemon.client()
        assert self._client is not None
        self._network.heal()
        self._daemon.use_hosts(root)
        self._client.reload()
        return Configured(self._daemon, self._network, self._remote, self._client, root)

    def close(self) -> None:
        """End the daemon."""
        if self._client is not None:
            self._client.close()
        if self._daemon is not None:
            self._daemon.close()

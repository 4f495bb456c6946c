"""A Honcho server seen from outside: its API over plain HTTP, whether it is the sandbox or a real one."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Remote:
    """One server. ``key`` is None where it asks for none."""

    url: str
    key: str | None = None

    def messages(self, workspace: str, session: str) -> list[dict[str, Any]]:
        """All messages of a session, in the order in which the server holds them."""
        found: list[dict[str, Any]] = []
        page = 1
        while True:
            answer = self.ask(
                "POST",
                f"/v3/workspaces/{workspace}/sessions/{session}/messages/list?size=100&page={page}",
                {},
            )
            found += answer["items"]
            if page >= answer["pages"]:
                return found
            page += 1

    def contents(self, workspace: str, session: str) -> list[str]:
        """The texts of a session, in order."""
        return [message["content"] for message in self.messages(workspace, session)]

    def speakers(self, workspace: str, session: str) -> list[tuple[str, str]]:
        """Who said what in a session, in order."""
        return [(message["peer_id"], message["content"]) for message in self.messages(workspace, session)]

    def sessions(self, workspace: str) -> set[str]:
        """The ids of all sessions of a workspace."""
        found: set[str] = set()
        page = 1
        while True:
            answer = self.ask("POST", f"/v3/workspaces/{workspace}/sessions/list?size=100&page={page}", {})
            found |= {item["id"] for item in answer["items"]}
            if page >= answer["pages"]:
                return found
            page += 1

    def flags(self, workspace: str, session: str, peer: str) -> dict[str, Any]:
        """What a session's member may learn and be learned from."""
        answer = self.ask("GET", f"/v3/workspaces/{workspace}/sessions/{session}/peers/{peer}/config")
        return dict(answer)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One request; the decoded answer. Fails for anything but a 2xx."""
        at = urlsplit(self.url)
        connection = http.client.HTTPConnection(str(at.hostname), at.port or 80, timeout=60)
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            assert 200 <= answer.status < 300, f"{method} {path}: {answer.status} {text[:200]!r}"
            return json.loads(text) if text else None
        finally:
            connection.close()

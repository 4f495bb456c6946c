from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from honchod.sandbox import SandboxHandle

MESSAGES = "/v3/workspaces/w/sessions/s/messages"


@dataclass(frozen=True)
class Got:
    status: int
    value: Any
    headers: dict[str, str]


class Client:
    """A plain HTTP client that keeps its connection, except after a 500, when the server closes it."""

    def __init__(self, url: str, *, timeout_s: float = 10.0, key: str | None = None) -> None:
        at = urlsplit(url)
        self._connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=timeout_s)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def call(self, method: str, path: str, body: Any = None) -> Got:
        raw = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = self._headers | ({"Content-Type": "application/json"} if raw is not None else {})
        try:
            self._connection.request(method, path, raw, headers)
            answer = self._connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if answer.status == 500:
            self._connection.close()
        return Got(answer.status, value, dict(answer.getheaders()))

    def say(self, *contents: str, path: str = MESSAGES) -> Got:
        return self.call("POST", path, {"messages": [{"peer_id": "al", "content": c} for c in contents]})

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def wait_until(condition: Callable[[], bool], timeout_s: float = 5.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.005)


def contents(sandbox: SandboxHandle, session: str = "s") -> list[str]:
    return [message.content for message in sandbox.messages("w", session)]

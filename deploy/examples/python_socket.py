"""The plain socket from Python: write what was said, get memory back, call a tool. Standard library only.

Usage: python_socket.py SESSION TEXT
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
from typing import Any


class UnixConnection(http.client.HTTPConnection):
    """HTTP/1.1 over a Unix socket."""

    def __init__(self, path: str, timeout_s: float = 10.0) -> None:
        super().__init__("honchod", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket instead of a host."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def socket_path() -> str:
    """Where the daemon listens."""
    if named := os.environ.get("HONCHOD_SOCKET"):
        return named
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return f"{runtime}/honchod/honchod.sock" if runtime else "/run/honchod/honchod.sock"


def call(connection: UnixConnection, method: str, path: str, body: Any = None) -> Any:
    """One call; raises RuntimeError with the daemon's own words when it refuses."""
    encoded = None if body is None else json.dumps(body)
    connection.request(method, path, encoded, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    value = json.loads(answer.read())
    if answer.status >= 400:
        raise RuntimeError(f"{value['code']}: {value['detail']}")
    return value


def main() -> None:
    """Say something, recall, search."""
    session, text = sys.argv[1:3]
    connection = UnixConnection(socket_path())
    message = {"role": "user", "content": text}
    written = call(
        connection, "POST", "/v1/messages", {"session": session, "turn_end": True, "messages": [message]}
    )
    recalled = call(connection, "POST", "/v1/recall", {"session": session, "query": text})
    arguments = {"query": text, "max_tokens": 400}
    found = call(connection, "POST", "/v1/tools/honcho_search", {"session": session, "arguments": arguments})
    sys.stdout.write(
        json.dumps({"written": written["results"], "recall": recalled["status"], "found": found["text"]})
        + "\n"
    )
    connection.close()


if __name__ == "__main__":
    main()

"""A client made of nothing but a socket, so that tests decide every byte and every pause."""

from __future__ import annotations

import fcntl
import json
import socket
import sys
import termios
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Peer:
    """One connection."""

    def __init__(self, path: Path) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT_S)
        try:
            self.sock.connect(str(path))
        except OSError:
            self.sock.close()
            raise
        self._buffer = b""

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def request(
        self, method: str, target: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        self.send(request_bytes(method, target, body, headers))
        return self.reply()

    def reply(self) -> Reply:
        head, _, self._buffer = self._until(lambda data: b"\r\n\r\n" in data).partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        status = int(first.split()[1])
        length = 0 if status == 100 else int(headers.get("content-length", "0"))
        data = self._until(lambda data: len(data) >= length)
        body, self._buffer = data[:length], data[length:]
        return Reply(status, headers, body)

    def unread_bytes(self) -> int:
        """How much of what was sent the other side has not taken in yet."""
        return int.from_bytes(fcntl.ioctl(self.sock, termios.TIOCOUTQ, b"\0" * 4), sys.byteorder)

    def is_closed(self) -> bool:
        """Wait for the other side to close; what it still sends is thrown away."""
        try:
            while self.sock.recv(65536):
                pass
        except ConnectionError:
            return True
        except TimeoutError:
            return False
        return True

    def _until(self, enough: Callable[[bytes], bool]) -> bytes:
        while not enough(self._buffer):
            chunk = self.sock.recv(65536)
            if not chunk:
                raise EOFError(f"closed after {self._buffer!r}")
            self._buffer += chunk
        return self._buffer


def request_bytes(
    method: str, target: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: d", *(f"{k}: {v}" for k, v in (headers or {}).items())]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + (body or b"")


def message_body(count: int = 1, **fields: Any) -> bytes:
    messages = [{"id": f"m{n}", "content": "hello"} for n in range(count)]
    return json.dumps({"session": "chat", "messages": messages, **fields}).encode()

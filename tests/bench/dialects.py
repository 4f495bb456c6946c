"""What a writer says to a server and how it knows that the answer is whole: bytes, no I/O.

One load generator speaks all of them, so that two servers are compared and not two clients.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from bench.texts import TEXTS


class Refused(Exception):
    """The server answered, and not with what was asked for."""


class Dialect(Protocol):
    """One kind of request. A writer is known by its number, a request of it by its own."""

    def request(self, writer: int, number: int) -> bytes:
        """The bytes of a request."""

    def answered(self, buffer: bytearray) -> int:
        """How many bytes the first answer in ``buffer`` has; 0 while it is not whole. Raises `Refused`."""


@dataclass(frozen=True)
class Write:
    """``POST /v1/messages``, as the client of the package sends it: every message has an id."""

    run: str
    messages: int = 1

    def request(self, writer: int, number: int) -> bytes:
        """So many messages to the writer's own session."""
        first = number * self.messages
        messages = ",".join(
            f'{{"content":{self._texts[index % len(TEXTS)]},"id":"{self.run}-{writer}-{index}"}}'
            for index in range(first, first + self.messages)
        )
        return post("/v1/messages", f'{{"messages":[{messages}],"session":"s-{writer}"}}'.encode())

    def answered(self, buffer: bytearray) -> int:
        """An acknowledgement."""
        return http_answer(buffer, 202)

    @cached_property
    def _texts(self) -> list[str]:
        return [json.dumps(text) for text in TEXTS]


@dataclass(frozen=True)
class Fixed:
    """The same HTTP request every time."""

    method: str
    path: str
    body: bytes = b""

    def request(self, writer: int, number: int) -> bytes:
        """The request."""
        return post(self.path, self.body) if self.method == "POST" else get(self.path)

    def answered(self, buffer: bytearray) -> int:
        """A 200."""
        return http_answer(buffer, 200)


@dataclass(frozen=True)
class StreamAdd:
    """Redis: XADD of one message to the writer's own stream."""

    def request(self, writer: int, number: int) -> bytes:
        """The command, in RESP."""
        parts = (b"XADD", b"s-%d" % writer, b"*", b"content", TEXTS[number % len(TEXTS)].encode())
        return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)

    def answered(self, buffer: bytearray) -> int:
        """The entry's id, as a bulk string."""
        if buffer and not buffer.startswith(b"$"):
            raise Refused(bytes(buffer[:100]))
        end = buffer.find(b"\r\n")
        if end < 0:
            return 0
        whole = end + 2 + int(buffer[1:end]) + 2
        return whole if len(buffer) >= whole else 0


@dataclass(frozen=True)
class Echo:
    """The same bytes there and back."""

    payload: bytes

    def request(self, writer: int, number: int) -> bytes:
        """The payload."""
        return self.payload

    def answered(self, buffer: bytearray) -> int:
        """The payload."""
        return len(self.payload) if len(buffer) >= len(self.payload) else 0


def post(path: str, body: bytes) -> bytes:
    """A POST of JSON."""
    head = f"POST {path} HTTP/1.1\r\nHost: d\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def get(path: str) -> bytes:
    """A GET."""
    return f"GET {path} HTTP/1.1\r\nHost: d\r\n\r\n".encode()


def http_answer(buffer: bytearray, status: int) -> int:
    """How long the HTTP answer at the beginning of ``buffer`` is; 0 while it is not whole."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return 0
    if not buffer.startswith(b"HTTP/1.1 %d " % status):
        raise Refused(bytes(buffer[:300]))
    head = bytes(buffer[:end]).lower()
    at = head.index(b"\r\ncontent-length:") + len(b"\r\ncontent-length:")
    length = int(head[at : head.find(b"\r\n", at) if head.find(b"\r\n", at) >= 0 else None])
    whole = end + 4 + length
    return whole if len(buffer) >= whole else 0

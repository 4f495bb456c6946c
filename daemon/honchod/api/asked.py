"""One HTTP request as the door sees it, and what it answers with, however they travel."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Final, Protocol

import msgspec
from multidict import MultiMapping

SERVER: Final = "honchod"


class Asked(Protocol):
    """A request whose head is there."""

    @property
    def method(self) -> str:
        """``GET``, ``POST``, …"""
        ...

    @property
    def path(self) -> str:
        """The path as it was sent: percent-encoded, without the query."""
        ...

    @property
    def query(self) -> MultiMapping[str]:
        """The parameters of the query."""
        ...

    @property
    def given_id(self) -> str | None:
        """Its ``X-Request-Id``."""
        ...

    @property
    def wants_events(self) -> bool:
        """Whether it accepts a stream of events."""
        ...


class Reply(msgspec.Struct, frozen=True):
    """A whole answer to the request of this name. ``more_headers`` are those that not every answer has."""

    status: int
    media_type: str
    request_id: str
    body: bytes
    more_headers: Mapping[str, str] = {}

    @property
    def headers(self) -> dict[str, str]:
        """All headers but those that follow from the others."""
        return {
            "Content-Type": self.media_type,
            "Server": SERVER,
            "X-Request-Id": self.request_id,
            **self.more_headers,
        }

    def raw(self, *, last: bool) -> bytes:
        """It as HTTP/1.1; ``last``: its connection ends with it."""
        more_headers = self.more_headers
        more = (
            "".join([f"{name}: {value}\r\n" for name, value in more_headers.items()]) if more_headers else ""
        )
        ending = "Connection: close\r\n" if last else ""
        head = (
            f"{_opening(self.status, self.media_type)}{self.request_id}\r\n{more}"
            f"Content-Length: {len(self.body)}\r\n{_date(int(time.time()))}{ending}\r\n"
        )
        return head.encode() + self.body


@lru_cache(64)
def _opening(status: int, media_type: str) -> str:
    """What nearly all answers begin with, up to the name of the request."""
    return (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        f"Content-Type: {media_type}\r\nServer: {SERVER}\r\nX-Request-Id: "
    )


@lru_cache(1)
def _date(at_s: int) -> str:
    return f"Date: {formatdate(at_s, usegmt=True)}\r\n"

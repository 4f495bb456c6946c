"""One HTTP request as the door sees it, and what it answers with, however they travel."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Protocol

import msgspec
from multidict import MultiMapping


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

    async def body(self, limit_bytes: int) -> bytes:
        """The whole body. Raises TooLarge, BadRequest and PeerLeft."""
        ...


class Reply(msgspec.Struct, frozen=True):
    """A whole answer. ``headers`` holds none that follow from the others."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def raw(self, *, last: bool) -> bytes:
        """It as HTTP/1.1; ``last``: its connection ends with it."""
        headers = "".join([f"{name}: {value}\r\n" for name, value in self.headers.items()])
        ending = "Connection: close\r\n" if last else ""
        head = (
            f"{_status_line(self.status)}{headers}Content-Length: {len(self.body)}\r\n"
            f"Date: {_date(int(time.time()))}\r\n{ending}\r\n"
        )
        return head.encode() + self.body


@lru_cache(64)
def _status_line(status: int) -> str:
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"


@lru_cache(1)
def _date(at_s: int) -> str:
    return formatdate(at_s, usegmt=True)

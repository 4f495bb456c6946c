"""A request that came whole, in one piece, as nearly all do: read here, in one look.

What is in any way out of the ordinary is left to aiohttp, which reads all that HTTP/1.1 allows: a head or a
body that comes in pieces or with the next request behind it, a query, a header that is not known here. Both
ways lead through the same door.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec
from multidict import MultiDict, MultiDictProxy, MultiMapping

_HEAD_BYTES_MAX: Final = 1024
_END: Final = b"\r\n\r\n"
_HEADS_REMEMBERED: Final = 512
"""A client's heads differ in their length alone, if at all."""

_FIRST_LINE: Final = re.compile(r"(?P<method>GET|POST) (?P<path>(?:/[A-Za-z0-9_-]+)+) HTTP/1\.1")
_HEADER: Final = re.compile(r"(?P<name>[A-Za-z-]+):[ \t]*(?P<value>[!-~](?:[ -~]*[!-~])?)[ \t]*")
_LENGTH: Final = re.compile(r"[0-9]{1,9}")
_HARMLESS: Final = frozenset({"host", "user-agent", "content-type", "accept-encoding"})
"""Headers that change nothing here, whatever they hold."""
_READ: Final = frozenset({"content-length", "accept", "connection", "x-request-id"})
_KNOWN: Final = _HARMLESS | _READ
_NO_QUERY: Final = MultiDictProxy(MultiDict[str]())
_NO_EVENTS: Final = frozenset({"*/*", "application/json"})


class Head(msgspec.Struct, frozen=True):
    """What stands before a body of ``length_bytes``."""

    method: str
    path: str
    length_bytes: int
    given_id: str | None


class Whole(msgspec.Struct, frozen=True):
    """A request of which nothing is missing (see `Asked`)."""

    method: str
    path: str
    given_id: str | None
    content: bytes
    query: MultiMapping[str] = _NO_QUERY
    """Empty: a path with a query is not read here."""
    wants_events: bool = False
    """Never: whoever accepts them is not read here."""


def read_whole(data: bytes) -> Whole | None:
    """The request that ``data`` is, no more and no less; None for anything else."""
    end = data.find(_END, 0, _HEAD_BYTES_MAX)
    if end < 0:
        return None
    head = _read_head(data[:end])
    start = end + len(_END)
    if head is None or len(data) - start != head.length_bytes:
        return None
    return Whole(head.method, head.path, head.given_id, data[start:])


@lru_cache(_HEADS_REMEMBERED)
def _read_head(raw: bytes) -> Head | None:
    if not raw.isascii():
        return None
    first, *lines = raw.decode("ascii").split("\r\n")
    request = _FIRST_LINE.fullmatch(first)
    if request is None:
        return None
    headers: dict[str, str] = {}
    for line in lines:
        header = _HEADER.fullmatch(line)
        if header is None:
            return None
        name = header["name"].lower()
        if name in headers or name not in _KNOWN:
            return None
        headers[name] = header["value"]
    length = headers.get("content-length", "0")
    is_plain = (
        "host" in headers
        and _LENGTH.fullmatch(length) is not None
        and (request["method"] == "POST" or length == "0")
        and headers.get("connection", "keep-alive").lower() == "keep-alive"
        and headers.get("accept", "*/*") in _NO_EVENTS
    )
    if not is_plain:
        return None
    return Head(request["method"], request["path"], int(length), headers.get("x-request-id"))

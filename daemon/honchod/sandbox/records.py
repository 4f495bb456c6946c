"""The log of requests: who asked for what when, and what came of it. No keys, no bodies."""

from __future__ import annotations

import json
from collections import Counter, deque
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

_KEPT: Final = 100_000
_SECRET_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})


class RequestRecord(Struct):
    """One request. Times are seconds of the process's monotonic clock.

    ``status`` is 0 as long as, or because, no answer was given; ``answered_s`` is when the answer was
    handed to the socket, or the connection was given up. ``in_flight`` counts the requests to the same
    session that were unanswered at arrival, this one included; it is 0 where a path names no session.
    """

    serial: int
    received_s: float
    method: str
    path: str
    query: str
    workspace: str
    session: str
    headers: dict[str, str]
    """Without those that carry secrets; names in lower case."""
    authorization: bool
    """Whether there was an Authorization header."""
    body_bytes: int
    messages: int
    """How many messages the body brought, on a call that stores messages."""
    in_flight: int
    answered_s: float | None = None
    status: int = 0
    fault: str | None = None
    """What hit it, if a fault did."""
    committed: bool = False
    """Whether the request took effect (a refused one has none)."""


class RequestLog:
    """The last requests, oldest first."""

    def __init__(self) -> None:
        self._records: deque[RequestRecord] = deque(maxlen=_KEPT)
        self._in_flight: Counter[tuple[str, str]] = Counter()
        self._serial = 0

    def arrive(
        self,
        *,
        received_s: float,
        method: str,
        path: str,
        query: str,
        headers: dict[str, str],
        body: bytes,
    ) -> RequestRecord:
        """Note a request whose body has arrived."""
        workspace, session = path_ids(path)
        self._serial += 1
        if session:
            self._in_flight[workspace, session] += 1
        stores = method == "POST" and path.rstrip("/").endswith("/messages")
        record = RequestRecord(
            serial=self._serial,
            received_s=received_s,
            method=method,
            path=path,
            query=query,
            workspace=workspace,
            session=session,
            headers={name: value for name, value in headers.items() if name not in _SECRET_HEADERS},
            authorization="authorization" in headers,
            body_bytes=len(body),
            messages=_count_messages(body) if stores else 0,
            in_flight=self._in_flight[workspace, session] if session else 0,
        )
        self._records.append(record)
        return record

    def leave(self, record: RequestRecord, answered_s: float) -> None:
        """Note that the request is over, with or without an answer."""
        record.answered_s = answered_s
        if record.session:
            self._in_flight[record.workspace, record.session] -= 1

    def records(self) -> list[RequestRecord]:
        """A copy of the log."""
        return list(self._records)

    def clear(self) -> None:
        """Forget the requests; those in flight go on counting."""
        self._records.clear()


def path_ids(path: str) -> tuple[str, str]:
    """The workspace and the session that a percent-encoded path names; empty where it names none."""
    segments = path.split("/")
    if segments[1:3] != ["v3", "workspaces"]:
        return "", ""
    workspace = unquote(segments[3]) if len(segments) > 3 else ""
    named = segments[4:5] == ["sessions"] and segments[5:] != ["list"]
    return workspace, unquote(segments[5]) if named and len(segments) > 5 else ""


def _count_messages(body: bytes) -> int:
    try:
        messages = json.loads(body)["messages"]
    except (ValueError, TypeError, KeyError):
        return 0
    return len(messages) if isinstance(messages, list) else 0

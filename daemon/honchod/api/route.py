"""What a route is: one declaration from which both the dispatch and the OpenAPI document follow."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from honchod.api.backend import Backend
from honchod.api.callers import Role
from honchod.begun import Begun
from honchod.errors import Problem
from honchod.ops.views import LimitsView

JSON: Final = "application/json"

B_co = TypeVar("B_co", covariant=True)
Q_co = TypeVar("Q_co", covariant=True)


class Nothing(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A body or a query string that says nothing."""


class Call(msgspec.Struct, Generic[B_co, Q_co], frozen=True):
    """One request as its handler sees it: decoded, checked and allowed."""

    backend: Backend
    limits: LimitsView
    uid: int
    operator: bool
    body: B_co
    query: Q_co
    path: Mapping[str, str]
    wants_events: bool = False
    """Whether the caller accepts a stream of events."""


class Answer(msgspec.Struct, frozen=True):
    """What a handler answers with, ready to be sent."""

    body: bytes
    status: int = 200
    media_type: str = JSON

    @classmethod
    def of(cls, result: msgspec.Struct, status: int = 200) -> Answer:
        """A wire type as JSON."""
        return cls(_encoder.encode(result), status)


@dataclass(frozen=True, slots=True)
class EventStream:
    """An answer that comes bit by bit, as server-sent events. It is closed when its reader leaves."""

    events: AsyncGenerator[bytes, None]


Begin = Callable[[Call[Any, Any]], Begun[Answer] | None]

_encoder = msgspec.json.Encoder()


@dataclass(frozen=True)
class Route:
    """One call of the socket.

    ``path`` may hold ``{name}`` for one segment. ``answers`` maps each status of success (or, for a probe,
    of failure) to the wire type of its body; None stands for a body of ``media_type`` that is no struct.
    A request body may be left out when ``request_optional`` says so, or when there is nothing to say in it.
    ``problems`` are those that this call alone can meet; the door adds what every call can. ``intake``
    marks calls that are refused while the daemon stops, ``attended`` those whose work ends with a caller that
    leaves: nobody else wants its result. The summary is the handler's docstring.

    Two ways go before the handler, each None where it does not lead to the answer: ``at_once`` gives it where
    it is known without waiting for anything, ``begin`` where one future alone is waited for.
    """

    method: Literal["GET", "POST"]
    path: str
    handler: Callable[[Call[Any, Any]], Awaitable[Answer | EventStream]]
    role: Role
    answers: Mapping[int, type[msgspec.Struct] | None]
    request: type[msgspec.Struct] = Nothing
    request_optional: bool = False
    query: type[msgspec.Struct] = Nothing
    at_once: Callable[[Call[Any, Any]], Answer | None] | None = None
    begin: Begin | None = None
    problems: tuple[type[Problem], ...] = ()
    media_type: str = JSON
    intake: bool = False
    attended: bool = False

    @cached_property
    def name(self) -> str:
        """Method and path, for the log."""
        return f"{self.method} {self.path}"

    @cached_property
    def absent_body(self) -> msgspec.Struct | None:
        """What a request without a body means; None when it must have one."""
        return self.request() if self.request_optional or self.request is Nothing else None

    @cached_property
    def decoder(self) -> msgspec.json.Decoder[msgspec.Struct]:
        """Decodes the request body."""
        return msgspec.json.Decoder(self.request)

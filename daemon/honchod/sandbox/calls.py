"""A call and its answer, as the route handlers see them: no sockets, no framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from .clock import wire_time
from .derive import Deriver
from .fields import Fields
from .ids import Ids
from .limits import ID_CHARS, PAGE_ROWS
from .model import Page
from .store import Store

JSON_TYPE: Final = "application/json"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How this sandbox behaves where servers differ or time matters."""

    derive_delay_s: float = 0.2
    """From the storing of a message to its observation."""
    delete_delay_s: float = 0.5
    """How long a deleted session answers 404 before it can be made anew."""
    id_chars: int = ID_CHARS
    """The longest id; older servers had 100."""
    heeds_filters: bool = True
    """Whether a list of messages heeds its filters; a server that knows none of them ignores them."""
    stale_workspace_s: float = 300.0
    """How long no session can be made in a workspace whose very first request was rejected."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent as a form, with the form's other fields."""

    content: bytes
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """One request that reached its handler.

    ``at`` and ``ids`` are its only clock and source of chance: the same calls in the same order give the
    same store.
    """

    store: Store
    deriver: Deriver
    behaviour: Behaviour
    at: datetime
    ids: Ids
    path: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    repeated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    body: bytes = b""
    upload: Upload | None = None
    llm_down: bool = False

    @property
    def now(self) -> str:
        """The call's time as it is stored."""
        return wire_time(self.at)

    @property
    def now_s(self) -> float:
        """The call's time in seconds since 1970."""
        return self.at.timestamp()


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to the client."""

    status: int = 200
    body: bytes = b""
    content_type: str = JSON_TYPE

    @classmethod
    def of(cls, value: Any, status: int = 200) -> Answer:
        """An answer whose body is ``value`` as JSON."""
        return cls(status, msgspec.json.encode(value))


NO_CONTENT: Final = Answer(204)

Handler: TypeAlias = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """Which handler answers ``method`` on ``template``, whose ``{names}`` become ``Call.path``."""

    method: str
    template: str
    handler: Handler


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of a list is wanted."""

    page: int
    size: int
    reverse: bool

    def forward(self) -> Paging:
        """The same page of rows that are already in the wanted order."""
        return replace(self, reverse=False)


def read_paging(query: Fields) -> Paging:
    """The paging of a list call; ``query.check`` tells whether it was valid."""
    return Paging(
        page=query.integer("page", default=1, ge=1),
        size=query.integer("size", default=50, ge=1, le=PAGE_ROWS),
        reverse=query.boolean("reverse", default=False),
    )


def cut_page(rows: list[T], paging: Paging) -> Page[T]:
    """The wanted page of ``rows``."""
    start = (paging.page - 1) * paging.size
    ordered = rows[::-1] if paging.reverse else rows
    return Page(
        items=ordered[start : start + paging.size],
        total=len(rows),
        page=paging.page,
        size=paging.size,
        pages=-(-len(rows) // paging.size),
    )

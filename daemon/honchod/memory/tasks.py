"""What there is to do, whatever tool it was asked for with. ``peer`` is ``user``, ``ai`` or a peer's id."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from honchod.identity.choices import ReasoningLevel


class Where(StrEnum):
    """In what to search."""

    KNOWN = "known"
    """What is concluded of a peer, and what it said."""
    CONCLUSIONS = "conclusions"
    SESSION = "session"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class ReadCard:
    """Read a card."""

    peer: str


@dataclass(frozen=True, slots=True)
class SetCard:
    """Replace a card."""

    peer: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """Look for what fits the query: at most so many items of so many characters together."""

    query: str
    peer: str
    where: Where
    items: int
    chars: int
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Pack:
    """Everything of a session and a peer; with a query, what fits it first."""

    peer: str
    query: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the dialectic: at the level that was given, or from a floor upwards (None: the configured one)."""

    query: str
    peer: str
    level: ReasoningLevel | None = None
    floor: ReasoningLevel | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Conclude:
    """Remember a fact for good."""

    content: str
    peer: str


@dataclass(frozen=True, slots=True)
class ListConclusions:
    """List what was concluded, the newest first; with a query, the nearest."""

    peer: str
    query: str | None
    items: int


@dataclass(frozen=True, slots=True)
class Forget:
    """Remove a conclusion everywhere."""

    conclusion_id: str


@dataclass(frozen=True, slots=True)
class ShowStatus:
    """Tell how memory is."""


@dataclass(frozen=True, slots=True)
class Dream:
    """Have Honcho think over what it knows."""

    peer: str


Task = ReadCard | SetCard | Search | Pack | Ask | Conclude | ListConclusions | Forget | ShowStatus | Dream

"""What goes to Honcho and what comes back, as values of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

NOT_FOUND: Final = 404
"""How Honcho answers about a session or a peer that it has never met."""

NO_SCOPE: Final = frozenset({NOT_FOUND, 422})
"""How a server answers that knows no scopes, or not the one that was named."""

OWN_ID: Final = "honchod_id"
"""The metadata key by which a message of ours is found again."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and as whom: base URL without ``/v3``, key (None: no Authorization header), and workspace."""

    url: str
    workspace: str
    key: str | None = None

    def __repr__(self) -> str:
        """Without the key."""
        return f"Endpoint(url={self.url!r}, workspace={self.workspace!r})"


@dataclass(frozen=True, slots=True)
class Member:
    """A peer of a session, with what Honcho may learn from it and through it."""

    peer: str
    observe_me: bool
    observe_others: bool


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send. ``created_at_ms`` is wall clock, UTC."""

    peer: str
    content: str
    metadata: Mapping[str, Any]
    created_at_ms: int


@dataclass(frozen=True, slots=True)
class Setup:
    """What a session looks like after it was set up. ``scope`` is None where the server knows none."""

    created: bool
    scope: str | None


@dataclass(frozen=True, slots=True)
class SessionView:
    """What Honcho says of a session and of a peer in it. ``scope`` is the one it was seen under, if any."""

    summary: str
    representation: str
    card: tuple[str, ...]
    scope: str | None


@dataclass(frozen=True, slots=True)
class PeerView:
    """What a peer knows of itself."""

    representation: str
    card: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sight:
    """Whose knowledge of whom: ``observer`` of ``target``, in a scope or (None) in all sessions.

    A scope takes the observer's place.
    """

    observer: str
    target: str
    scope: str | None = None


class Where(StrEnum):
    """In what to search."""

    PEER = "peer"
    """What a peer said, in any session."""
    SESSION = "session"
    """What was said in a session."""
    WORKSPACE = "workspace"
    """What was said anywhere."""


@dataclass(frozen=True, slots=True)
class Concluded:
    """A conclusion as Honcho has it."""

    id: str
    content: str


@dataclass(frozen=True, slots=True)
class Said:
    """A message as Honcho has it."""

    id: str
    peer: str
    session: str
    content: str


@dataclass(frozen=True, slots=True)
class QueueState:
    """A session's derivation queue, in pieces of work. What failed counts as completed."""

    completed: int
    in_progress: int
    pending: int

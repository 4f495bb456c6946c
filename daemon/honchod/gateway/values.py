"""What goes to Honcho and what comes back, as values of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

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

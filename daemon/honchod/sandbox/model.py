"""The rows of a Honcho server, in the shape in which its API shows them."""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

Json: TypeAlias = dict[str, Any]
"""A JSON object that belongs to the caller: metadata, configuration, filters."""

Row = TypeVar("Row")


class Workspace(Struct, frozen=True):
    """A workspace."""

    id: str
    metadata: Json
    configuration: Json
    created_at: str


class Peer(Struct, frozen=True):
    """A peer of a workspace."""

    id: str
    workspace_id: str
    created_at: str
    metadata: Json
    configuration: Json


class Session(Struct, frozen=True):
    """A session of a workspace; ``is_active`` is false from its deletion until it is gone."""

    id: str
    is_active: bool
    workspace_id: str
    metadata: Json
    configuration: Json
    created_at: str


class PeerConfig(Struct, frozen=True):
    """A peer's observation flags within a session; ``None`` is "never said"."""

    observe_me: bool | None = None
    observe_others: bool | None = None


class StoredMessage(Struct, frozen=True):
    """One stored message. Its place in the session is its place in the list that holds it."""

    id: str
    content: str
    peer_id: str
    session_id: str
    metadata: Json
    created_at: str
    workspace_id: str
    token_count: int


class Conclusion(Struct, frozen=True):
    """What an observer holds true of an observed peer."""

    id: str
    content: str
    observer_id: str
    observed_id: str
    session_id: str | None
    level: str
    created_at: str


class Scope(Struct, frozen=True):
    """A named set of sessions."""

    id: str
    metadata: Json
    created_at: str


class Summary(Struct, frozen=True):
    """A summary of a session up to and including ``message_id``."""

    content: str
    message_id: str
    summary_type: str
    created_at: str
    token_count: int


class Webhook(Struct, frozen=True):
    """A registered webhook endpoint."""

    id: str
    workspace_id: str
    url: str
    created_at: str


class Page(Struct, Generic[Row], frozen=True):
    """One page of a list; ``pages`` is 0 when there is nothing."""

    items: list[Row]
    total: int
    page: int
    size: int
    pages: int

"""Everything a sandbox holds, in memory: workspaces, and in each its peers, sessions and conclusions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .model import (
    Conclusion,
    Peer,
    PeerConfig,
    Scope,
    Session,
    StoredMessage,
    Summary,
    Webhook,
    Workspace,
)

Pair = tuple[str, str]
"""An observer and the peer it observes."""


@dataclass(slots=True)
class Membership:
    """A peer's place in a session. It outlives the peer's leaving, with its flags."""

    config: PeerConfig
    active: bool = True


@dataclass(slots=True)
class SessionState:
    """A session with what belongs to it. ``messages`` is in storage order."""

    row: Session
    uid: str
    members: dict[str, Membership] = field(default_factory=dict)
    messages: list[StoredMessage] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    short_summary: Summary | None = None
    long_summary: Summary | None = None
    gone_at_s: float | None = None

    def active_members(self) -> Iterator[tuple[str, Membership]]:
        """The peers that are in the session now, oldest membership first."""
        return ((peer, member) for peer, member in self.members.items() if member.active)

    def append(self, messages: list[StoredMessage], unreadable: set[str]) -> None:
        """Store a batch behind what is there; ``unreadable`` are the ids that no read survives."""
        for place, message in enumerate(messages, len(self.messages)):
            self.places[message.id] = place
        self.messages.extend(messages)
        self.unreadable |= unreadable


@dataclass(frozen=True, slots=True)
class HeldConclusion:
    """A conclusion, and when that which it rests on was said."""

    row: Conclusion
    said_at: str


@dataclass(slots=True)
class Backfill:
    """The copying of a session's conclusions into a scope that it joined late."""

    state: str
    updated_at: str
    docs_copied: int | None = None


@dataclass(slots=True)
class ScopeState:
    """A scope, the sessions in it by age of membership, and its backfills by session."""

    row: Scope
    sessions: dict[str, None] = field(default_factory=dict)
    backfills: dict[str, Backfill] = field(default_factory=dict)


@dataclass(slots=True)
class WorkspaceState:
    """A workspace with what belongs to it. Dicts keep the order of creation."""

    row: Workspace
    peers: dict[str, Peer] = field(default_factory=dict)
    sessions: dict[str, SessionState] = field(default_factory=dict)
    scopes: dict[str, ScopeState] = field(default_factory=dict)
    conclusions: dict[str, HeldConclusion] = field(default_factory=dict)
    pairs: dict[Pair, dict[str, HeldConclusion]] = field(default_factory=dict)
    cards: dict[Pair, list[str]] = field(default_factory=dict)
    webhooks: dict[str, Webhook] = field(default_factory=dict)

    def add_conclusion(self, held: HeldConclusion) -> None:
        """Keep a conclusion; one with the same id is replaced."""
        pair = (held.row.observer_id, held.row.observed_id)
        self.conclusions[held.row.id] = held
        self.pairs.setdefault(pair, {})[held.row.id] = held

    def drop_conclusion(self, conclusion_id: str) -> bool:
        """Forget a conclusion; false when there is none of that id."""
        held = self.conclusions.pop(conclusion_id, None)
        if held is None:
            return False
        del self.pairs[(held.row.observer_id, held.row.observed_id)][conclusion_id]
        return True

    def drop_session(self, session_id: str) -> None:
        """Forget a session, its messages and what was concluded from it."""
        self.sessions.pop(session_id, None)
        for scope in self.scopes.values():
            scope.sessions.pop(session_id, None)
            scope.backfills.pop(session_id, None)
        of_session = [held.row.id for held in self.conclusions.values() if held.row.session_id == session_id]
        for conclusion_id in of_session:
            self.drop_conclusion(conclusion_id)


@dataclass(slots=True)
class Store:
    """All workspaces. ``changes`` counts the changes, so that a caller sees whether there was one.

    ``stale_until_s`` holds workspaces that the server believes to have, and until when it does.
    """

    workspaces: dict[str, WorkspaceState] = field(default_factory=dict)
    stale_until_s: dict[str, float] = field(default_factory=dict)
    changes: int = 0

    def changed(self) -> None:
        """Say that something was changed."""
        self.changes += 1

    def session(self, workspace_id: str, session_id: str) -> SessionState | None:
        """The session, if there is one, deleted ones that are not gone yet included."""
        workspace = self.workspaces.get(workspace_id)
        return workspace.sessions.get(session_id) if workspace else None

"""The deriver: what becomes of a stored message, a moment later.

A message of an observed peer becomes the explicit observation "<peer> said: <content>" of everyone who
observes that peer: the peer itself, the members with ``observe_others``, and the scopes of the session.
Every so many messages a summary is written. Work is queued with the time at which it is due, and done
when somebody looks after that time, so that the same calls at the same times give the same conclusions.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from .clock import wire_time
from .ids import derived_id
from .limits import SCOPE_PREFIX, approximate_tokens
from .model import Conclusion, Json, StoredMessage, Summary
from .store import HeldConclusion, SessionState, Store, WorkspaceState

SHORT_SUMMARY_MESSAGES: Final = 20
LONG_SUMMARY_MESSAGES: Final = 60
_SUMMARY_LINES: Final = 5
_SUMMARY_LINE_CHARS: Final = 120


SummaryKind: TypeAlias = Literal["short", "long"]


@dataclass(frozen=True, slots=True)
class Observation:
    """A message to observe. ``fails`` is set when no model is there to do it: done all the same."""

    message: StoredMessage
    observers: tuple[str, ...]
    fails: bool


@dataclass(frozen=True, slots=True)
class Summarising:
    """Summaries to write of the first ``count`` messages."""

    session_id: str
    count: int
    kinds: tuple[SummaryKind, ...]


@dataclass(frozen=True, slots=True)
class Backfilling:
    """A session's conclusions to copy into a scope."""

    scope_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deleted session whose rows go away."""

    session_id: str


Work = Observation | Summarising | Backfilling | Deletion


@dataclass(order=True, frozen=True, slots=True)
class Due:
    """A piece of work, ordered by the time (seconds since 1970) at which it is done."""

    due_at_s: float
    serial: int
    workspace_id: str = field(compare=False)
    work: Work = field(compare=False)


@dataclass(slots=True)
class WorkUnit:
    """One entry of the queue as its status shows it."""

    session_id: str
    observers: tuple[str, ...]
    observed: str
    done: bool = False


class Deriver:
    """The queue of a store. Nothing happens but in ``settle``."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._heap: list[Due] = []
        self._serial = 0
        self._units: dict[str, list[WorkUnit]] = {}
        self._open: dict[int, WorkUnit] = {}

    def queue_messages(
        self,
        workspace: WorkspaceState,
        session: SessionState,
        messages: list[StoredMessage],
        now_s: float,
        *,
        fails: bool,
    ) -> None:
        """Queue what the messages, just stored at the end of the session, give rise to."""
        workspace_id = workspace.row.id
        first = len(session.messages) - len(messages) + 1
        for count, message in enumerate(messages, first):
            kinds = _due_summaries(workspace, session, count)
            if kinds:
                unit = WorkUnit(session.row.id, (), message.peer_id)
                summarising = Summarising(session.row.id, count, kinds)
                self._push(workspace_id, summarising, now_s + self._delay_s, unit)
            observers = tuple(observers_of(workspace, session, message.peer_id))
            if observers:
                unit = WorkUnit(session.row.id, observers, message.peer_id)
                work = Observation(message, observers, fails)
                self._push(workspace_id, work, now_s + self._delay_s, unit)

    def queue_backfill(self, workspace_id: str, scope_id: str, session_id: str, now_s: float) -> None:
        """Queue the copying of a session's conclusions into a scope."""
        self._push(workspace_id, Backfilling(scope_id, session_id), now_s + self._delay_s, None)

    def queue_deletion(self, workspace_id: str, session_id: str, due_at_s: float) -> None:
        """Queue the going away of a deleted session."""
        self._push(workspace_id, Deletion(session_id), due_at_s, None)

    def units(self, workspace_id: str) -> list[WorkUnit]:
        """Every unit of work the workspace ever had, done or not."""
        return self._units.get(workspace_id, [])

    def settle(self, store: Store, now_s: float) -> None:
        """Do what is due, as of the time at which it was due."""
        while self._heap and self._heap[0].due_at_s <= now_s:
            due = heapq.heappop(self._heap)
            unit = self._open.pop(due.serial, None)
            if unit is not None:
                unit.done = True
            workspace = store.workspaces.get(due.workspace_id)
            if workspace is not None:
                _do(workspace, due.work, wire_time(datetime.fromtimestamp(due.due_at_s, UTC)))

    def forget(self) -> None:
        """Drop the queue and its history."""
        self._heap.clear()
        self._units.clear()
        self._open.clear()

    def _push(self, workspace_id: str, work: Work, due_at_s: float, unit: WorkUnit | None) -> None:
        self._serial += 1
        heapq.heappush(self._heap, Due(due_at_s, self._serial, workspace_id, work))
        if unit is not None:
            self._units.setdefault(workspace_id, []).append(unit)
            self._open[self._serial] = unit


def observers_of(workspace: WorkspaceState, session: SessionState, peer_id: str) -> Iterator[str]:
    """Who observes what this peer says in the session, scopes under their prefixed name."""
    if not _is_observed(workspace, session, peer_id):
        return
    yield peer_id
    for other, member in session.active_members():
        if other != peer_id and member.config.observe_others:
            yield other
    for scope_id, scope in workspace.scopes.items():
        if session.row.id in scope.sessions:
            yield SCOPE_PREFIX + scope_id


def _is_observed(workspace: WorkspaceState, session: SessionState, peer_id: str) -> bool:
    if _settings(workspace, session, "reasoning").get("enabled") is False:
        return False
    member = session.members.get(peer_id)
    if member is not None and member.config.observe_me is not None:
        return member.config.observe_me
    peer = workspace.peers.get(peer_id)
    return peer is None or peer.configuration.get("observe_me") is not False


def _settings(workspace: WorkspaceState, session: SessionState, key: str) -> Json:
    """A part of the configuration: the session's, and where it is silent the workspace's."""
    common: Json = workspace.row.configuration.get(key) or {}
    own: Json = session.row.configuration.get(key) or {}
    return {**common, **own}


def _due_summaries(workspace: WorkspaceState, session: SessionState, count: int) -> tuple[SummaryKind, ...]:
    """The summaries that are due once the session has ``count`` messages."""
    wanted = _settings(workspace, session, "summary")
    if wanted.get("enabled") is False:
        return ()
    sizes: dict[SummaryKind, int] = {
        "short": wanted.get("messages_per_short_summary") or SHORT_SUMMARY_MESSAGES,
        "long": wanted.get("messages_per_long_summary") or LONG_SUMMARY_MESSAGES,
    }
    return tuple(kind for kind, size in sizes.items() if count % size == 0)


def _do(workspace: WorkspaceState, work: Work, at: str) -> None:
    match work:
        case Observation(message, observers, fails):
            if not fails and message.session_id in workspace.sessions and message.content.strip():
                for observer in observers:
                    workspace.add_conclusion(_observed(message, observer, at))
        case Summarising(session_id, count, kinds):
            session = workspace.sessions.get(session_id)
            if session is not None and len(session.messages) >= count:
                _summarise(session, session.messages[:count], kinds, at)
        case Backfilling(scope_id, session_id):
            _backfill(workspace, scope_id, session_id, at)
        case Deletion(session_id):
            workspace.drop_session(session_id)


def _observed(message: StoredMessage, observer: str, at: str) -> HeldConclusion:
    row = Conclusion(
        id=derived_id(message.id, observer),
        content=f"{message.peer_id} said: {message.content}",
        observer_id=observer,
        observed_id=message.peer_id,
        session_id=message.session_id,
        level="explicit",
        created_at=at,
    )
    return HeldConclusion(row, message.created_at)


def _backfill(workspace: WorkspaceState, scope_id: str, session_id: str, at: str) -> None:
    scope = workspace.scopes.get(scope_id)
    if scope is None or session_id not in scope.sessions:
        return
    observer = SCOPE_PREFIX + scope_id
    own = [
        held
        for held in workspace.conclusions.values()
        if held.row.session_id == session_id and held.row.observer_id == held.row.observed_id
    ]
    for held in own:
        row = Conclusion(
            id=derived_id(held.row.id, observer),
            content=held.row.content,
            observer_id=observer,
            observed_id=held.row.observed_id,
            session_id=session_id,
            level=held.row.level,
            created_at=at,
        )
        workspace.add_conclusion(HeldConclusion(row, held.said_at))
    backfill = scope.backfills[session_id]
    backfill.state, backfill.updated_at, backfill.docs_copied = "completed", at, len(own)


def _summarise(
    session: SessionState, covered: list[StoredMessage], kinds: tuple[SummaryKind, ...], at: str
) -> None:
    if "short" in kinds:
        session.short_summary = _summary("short", covered, at)
    if "long" in kinds:
        session.long_summary = _summary("long", covered, at)


def _summary(kind: SummaryKind, covered: list[StoredMessage], at: str) -> Summary:
    speakers = ", ".join(dict.fromkeys(message.peer_id for message in covered))
    lines = [f"{m.peer_id}: {m.content[:_SUMMARY_LINE_CHARS]}" for m in covered[-_SUMMARY_LINES:]]
    head = f"{len(covered)} messages between {speakers}. The last of them:"
    content = "\n".join([head, *lines])
    return Summary(content, covered[-1].id, kind, at, approximate_tokens(content))

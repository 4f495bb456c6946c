"""Dead letters: seen, sent again, given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, Select, bindparam, func, select, text, update
from sqlalchemy.engine import Connection

from honchod.outbox.schema import attempt, event, lane
from honchod.outbox.states import State, check
from honchod.outbox.transaction import Tx

RETRY_MAX: Final = 100
"""At most so many letters go back at once, unless all are asked for outright."""

_DEAD: Final = text("event.state = 'dead'")
_COLUMNS: Final = (
    event.c.id,
    event.c.message_id,
    event.c.part,
    event.c.kind,
    event.c.peer,
    event.c.last_error,
    event.c.attempts,
    event.c.created_at,
    event.c.ended_at,
    event.c.size,
    lane.c.session,
    lane.c.host,
    lane.c.workspace,
)
_LIST: Final[Select[Any]] = select(*_COLUMNS).join_from(event, lane).where(_DEAD).order_by(event.c.id)
_ONE: Final[Select[Any]] = (
    select(*_COLUMNS, event.c.content, event.c.metadata)
    .join_from(event, lane)
    .where(_DEAD, event.c.id == bindparam("event_id"))
)
_HISTORY: Final = (
    select(attempt.c.at, attempt.c.outcome, attempt.c.status, attempt.c.ms)
    .where(attempt.c.event_id == bindparam("event_id"))
    .order_by(attempt.c.id)
)
_MOVE: Final = select(event.c.id, event.c.uid, event.c.size, event.c.lane_id, lane.c.host, lane.c.workspace)
_REQUEUE: Final = (
    update(event)
    .where(event.c.id == bindparam("event_id"))
    .values(state=State.QUEUED.value, attempts=0, last_error=None, ended_at=None, queued_at=bindparam("now"))
)
_DISCARD: Final = (
    update(event)
    .where(event.c.id == bindparam("event_id"))
    .values(state=State.DISCARDED.value, ended_at=bindparam("now"), content=None, metadata=None)
)
_REVIVE: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"))
    .values(
        pending=lane.c.pending + bindparam("rows"),
        due_at=func.max(bindparam("now"), func.coalesce(lane.c.look_at, 0)),
        uncertain=1,
        # What comes back was no part of an attempt that was to be charged.
        charge=0,
        uncertain_first=func.min(
            func.coalesce(lane.c.uncertain_first, bindparam("first")), bindparam("first")
        ),
        uncertain_last=func.max(func.coalesce(lane.c.uncertain_last, bindparam("last")), bindparam("last")),
    )
)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which letters: by id, or by session and code (None: any)."""

    ids: tuple[int, ...] | None = None
    session: str | None = None
    code: str | None = None

    def of(self, statement: Select[Any]) -> Select[Any]:
        """The statement, narrowed to the letters chosen."""
        if self.ids is not None:
            statement = statement.where(event.c.id.in_(self.ids))
        if self.session is not None:
            statement = statement.where(lane.c.session == self.session)
        if self.code is not None:
            statement = statement.where(event.c.last_error == self.code)
        return statement


@dataclass(frozen=True, slots=True)
class LetterRow:
    """A dead letter as it stands in the outbox. ``content`` and ``metadata`` only when read one by one."""

    id: int
    message_id: str
    part: int
    kind: str
    peer: str
    code: str
    attempts: int
    created_at_ms: int
    died_at_ms: int
    size: int
    session: str
    host: str
    workspace: str
    content: str | None = None
    metadata: str | None = None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One remembered attempt."""

    at_ms: int
    outcome: str
    status: int | None
    ms: int


def listed(connection: Connection, choice: Choice, *, after: int, limit: int) -> list[LetterRow]:
    """Letters with an id past ``after``, oldest first."""
    found = connection.execute(choice.of(_LIST).where(event.c.id > after).limit(limit))
    return [_letter(row) for row in found]


def count(connection: Connection, choice: Choice) -> int:
    """How many letters there are of this choice."""
    statement = select(func.count()).select_from(event).join(lane).where(_DEAD)
    return int(connection.execute(choice.of(statement)).scalar_one())


def one(connection: Connection, letter_id: int) -> tuple[LetterRow, list[AttemptRow]] | None:
    """A letter with its content and its attempts; None when there is no such letter."""
    row = connection.execute(_ONE, {"event_id": letter_id}).first()
    if row is None:
        return None
    history = [AttemptRow(*made) for made in connection.execute(_HISTORY, {"event_id": letter_id})]
    return _letter(row, content=row.content, metadata=row.metadata), history


def _letter(row: Row[Any], *, content: str | None = None, metadata: str | None = None) -> LetterRow:
    return LetterRow(
        id=row.id,
        message_id=row.message_id,
        part=row.part,
        kind=row.kind,
        peer=row.peer,
        code=row.last_error or "unknown",
        attempts=row.attempts,
        created_at_ms=row.created_at,
        died_at_ms=row.ended_at,
        size=row.size,
        session=row.session,
        host=row.host,
        workspace=row.workspace,
        content=content,
        metadata=metadata,
    )


def retry(tx: Tx, choice: Choice, *, limit: int) -> tuple[int, frozenset[str]]:
    """Put letters back into the queue, at their old place in their lane. Returns how many, and whose hosts.

    What died may have landed all the same (an answer that never came): the lane looks before it sends.
    """
    check(State.DEAD, State.QUEUED)
    rows = _chosen(tx, choice, limit)
    if not rows:
        return 0, frozenset()
    tx.connection.execute(_REQUEUE, [{"event_id": row.id, "now": tx.now_ms} for row in rows])
    for lane_id in {row.lane_id for row in rows}:
        ids = [row.id for row in rows if row.lane_id == lane_id]
        tx.connection.execute(
            _REVIVE,
            {"lane_id": lane_id, "rows": len(ids), "first": min(ids), "last": max(ids), "now": tx.now_ms},
        )
    for row in rows:
        tx.ledger.move((row.host, row.workspace), State.DEAD, State.QUEUED)
        tx.ledger.charge(row.uid, 1, row.size)
    return len(rows), frozenset(row.host for row in rows)


def discard(tx: Tx, ids: Sequence[int]) -> int:
    """Give letters up, and drop their content. Their ids stay known for the dedupe window."""
    check(State.DEAD, State.DISCARDED)
    rows = _chosen(tx, Choice(ids=tuple(ids)), len(ids))
    if rows:
        tx.connection.execute(_DISCARD, [{"event_id": row.id, "now": tx.now_ms} for row in rows])
    for row in rows:
        tx.ledger.move((row.host, row.workspace), State.DEAD, State.DISCARDED)
        tx.ledger.hold((row.host, row.workspace), -row.size)
    return len(rows)


def _chosen(tx: Tx, choice: Choice, limit: int) -> Sequence[Row[Any]]:
    statement = _MOVE.join_from(event, lane).where(_DEAD).order_by(event.c.id).limit(limit)
    return tx.connection.execute(choice.of(statement)).all()

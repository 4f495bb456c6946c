"""How events end: delivered, dead, discarded, and back from the dead. Counters follow each change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
from sqlalchemy import Integer, bindparam, cast, delete, func, insert, select, text, update

from honchod.outbox.compiled import IDS, Compiled
from honchod.outbox.schema import attempt, event
from honchod.outbox.states import State, check
from honchod.outbox.transaction import Tx
from honchod.outbox.values import AttemptMade, Delivered, Died

ATTEMPTS_KEPT: Final = 10
"""How many of an event's last attempts are remembered."""

Place = tuple[str, str]

_QUEUED: Final = select(func.json_group_array(func.json_array(event.c.id, event.c.uid, event.c.size))).where(
    text("event.state = 'queued'"), event.c.id.in_(IDS)
)
"""Which of some events (a JSON array of ids) still wait, in one row: each row of an answer is a step, after
which the driver needs the interpreter's lock back.
"""
_FIND_QUEUED: Final = Compiled(_QUEUED)
_each = func.json_each(bindparam("remote_ids")).table_valued("key", "value")
_arrived = select(cast(_each.c.key, Integer).label("event_id"), _each.c.value.label("remote_id")).subquery()
_DELIVER: Final = (
    update(event)
    .where(event.c.id == _arrived.c.event_id)
    .values(state=State.DELIVERED.value, ended_at=bindparam("now"), remote_id=_arrived.c.remote_id)
)
"""Several events (a JSON object of their ids and those that Honcho gave them)."""
_DELIVERED: Final = Compiled(_DELIVER)
_DROP: Final = update(event).where(event.c.id == bindparam("event_id")).values(content=None, metadata=None)
_DIE: Final = (
    update(event)
    .where(event.c.id == bindparam("event_id"))
    .values(state=State.DEAD.value, ended_at=bindparam("now"), last_error=bindparam("code"))
)
_CHARGE: Final = (
    update(event)
    .where(text("event.state IN ('queued', 'dead')"), event.c.id == bindparam("event_id"))
    .values(attempts=event.c.attempts + 1)
)
_REMEMBER: Final = insert(attempt)
_OLD_ATTEMPTS: Final = delete(attempt).where(
    attempt.c.event_id == bindparam("of"),
    attempt.c.id.not_in(
        select(attempt.c.id)
        .where(attempt.c.event_id == bindparam("of"))
        .order_by(attempt.c.id.desc())
        .limit(ATTEMPTS_KEPT)
        .scalar_subquery()
    ),
)


def deliver(tx: Tx, place: Place, what: Sequence[Delivered], *, keep_content: bool) -> int:
    """Mark events delivered; those that are no longer queued (discarded meanwhile) are left alone."""
    check(State.QUEUED, State.DELIVERED)
    remote = {item.event_id: item.remote_id for item in what}
    rows = _queued(tx, list(remote))
    if rows:
        remote_ids = msgspec.json.encode({row.id: remote[row.id] for row in rows}).decode()
        _DELIVERED.run(tx.driver, {"remote_ids": remote_ids, "now": tx.now_ms})
        if not keep_content:
            tx.connection.execute(_DROP, [{"event_id": row.id} for row in rows])
            tx.ledger.hold(place, -sum(row.size for row in rows))
    _left_queue(tx, place, rows, State.DELIVERED)
    return len(rows)


def die(tx: Tx, place: Place, what: Sequence[Died]) -> int:
    """Make events dead letters, each with its code."""
    check(State.QUEUED, State.DEAD)
    codes = {item.event_id: item.code for item in what}
    rows = _queued(tx, list(codes))
    if rows:
        tx.connection.execute(
            _DIE, [{"event_id": row.id, "now": tx.now_ms, "code": codes[row.id]} for row in rows]
        )
    _left_queue(tx, place, rows, State.DEAD)
    return len(rows)


def record_attempts(tx: Tx, made: Sequence[AttemptMade], charged: Sequence[int]) -> None:
    """Remember failed attempts, the last few of each event, and charge those that cost one."""
    if charged:
        tx.connection.execute(_CHARGE, [{"event_id": event_id} for event_id in charged])
    for one in made:
        tx.connection.execute(
            _REMEMBER,
            [
                {
                    "event_id": event_id,
                    "at": tx.now_ms,
                    "outcome": one.outcome,
                    "status": one.status,
                    "ms": one.ms,
                }
                for event_id in one.event_ids
            ],
        )
        tx.connection.execute(_OLD_ATTEMPTS, [{"of": event_id} for event_id in one.event_ids])


class _Waiting(NamedTuple):
    """An entry of `_QUEUED`."""

    id: int
    uid: int
    size: int


def _queued(tx: Tx, ids: list[int]) -> list[_Waiting]:
    if not ids:
        return []
    (found,) = _FIND_QUEUED.run(tx.driver, {"ids": msgspec.json.encode(ids).decode()}).fetchone()
    return msgspec.json.decode(found, type=list[_Waiting])


def _left_queue(tx: Tx, place: Place, rows: Sequence[_Waiting], target: State) -> None:
    if not rows:
        return
    tx.ledger.move(place, State.QUEUED, target, rows=len(rows))
    for row in rows:
        tx.ledger.charge(row.uid, -1, -row.size)

"""What is kept, and for how long: pruning at the bounds, content after delivery, ids, age, clocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, bindparam, case, delete, func, select, text, update
from sqlalchemy.engine import Connection

from honchod.outbox import lanes
from honchod.outbox.held import HELD_MS
from honchod.outbox.schema import event, lane
from honchod.outbox.standing import used_bytes
from honchod.outbox.states import State
from honchod.outbox.transaction import Tx
from honchod.outbox.values import Bounds

STEP_ROWS: Final = 1000
"""How many rows one operation touches at the most: the writer must not be away for long."""
MIN_PRUNE_ROWS: Final = 200
"""At the bound, this many go at least: not every write should have to prune."""

_ENDED: Final = text("event.state IN ('delivered', 'discarded')")
_KEPT: Final = text("event.state IN ('delivered', 'discarded') AND event.content IS NOT NULL")
_WAITING: Final = text("event.state = 'queued'")
_row_columns = (event.c.id, event.c.state, event.c.size, event.c.content.is_not(None).label("held"))
_OLDEST_ENDED: Final = (
    select(*_row_columns, lane.c.host, lane.c.workspace)
    .join_from(event, lane)
    .where(_ENDED)
    .order_by(event.c.ended_at)
    .limit(bindparam("rows"))
)
_ENDED_BEFORE: Final = (
    select(*_row_columns, lane.c.host, lane.c.workspace)
    .join_from(event, lane)
    .where(_ENDED, event.c.ended_at < bindparam("before"))
    .order_by(event.c.ended_at)
    .limit(STEP_ROWS)
)
_KEPT_BEFORE: Final = (
    select(*_row_columns, lane.c.host, lane.c.workspace)
    .join_from(event, lane)
    .where(_KEPT, event.c.ended_at < bindparam("before"))
    .order_by(event.c.ended_at)
    .limit(STEP_ROWS)
)
_TOO_OLD: Final = (
    select(event.c.id, event.c.uid, event.c.size, event.c.lane_id, lane.c.host, lane.c.workspace)
    .join_from(event, lane)
    .where(_WAITING, event.c.queued_at < bindparam("before"), lane.c.lease_id.is_(None))
    .order_by(event.c.queued_at)
    .limit(STEP_ROWS)
)
_DELETE: Final = delete(event).where(event.c.id == bindparam("event_id"))
_DROP_CONTENT: Final = (
    update(event).where(event.c.id == bindparam("event_id")).values(content=None, metadata=None)
)
_EXPIRE: Final = (
    update(event)
    .where(event.c.id == bindparam("event_id"))
    .values(state=State.DEAD.value, last_error="expired", ended_at=bindparam("now"))
)
_CLAMP_DUE: Final = (
    update(lane)
    .where(
        text("pending > 0 AND lease_id IS NULL"),
        lane.c.due_at > bindparam("latest_due") + case((lane.c.held_from.is_(None), 0), else_=HELD_MS),
    )
    .values(due_at=func.max(bindparam("now"), func.coalesce(lane.c.look_at, 0)))
)
_CLAMP_LOOK: Final = (
    update(lane)
    .where(text("pending > 0"), lane.c.look_at > bindparam("latest_look"))
    .values(look_at=bindparam("latest_look"))
)


def over(tx: Tx, bounds: Bounds, *, rows: int, size: int) -> tuple[int, int]:
    """By how many rows and bytes so much more would go beyond the bounds; not positive where it fits.

    What the operations before in the transaction brought counts as much as they said that it may take.
    """
    over_rows = tx.standing.rows(tx.ledger) + rows - bounds.max_rows
    over_bytes = tx.standing.bytes(tx.ledger) + size - bounds.max_bytes
    if over_bytes > 0:
        tx.standing.forget_bytes()
        over_bytes = tx.standing.bytes(tx.ledger) + size - bounds.max_bytes
    return over_rows, over_bytes


def database_bytes(connection: Connection) -> int:
    """Size of the database's used pages, as this connection sees them."""
    sql = connection.exec_driver_sql
    pages = int(sql("PRAGMA page_count").scalar_one()) - int(sql("PRAGMA freelist_count").scalar_one())
    return pages * int(sql("PRAGMA page_size").scalar_one())


def prune(tx: Tx, *, rows: int, size: int) -> bool:
    """Delete terminal rows, oldest first, until so many rows and bytes are freed. False when it cannot be.

    Nothing that waits and no dead letter is ever touched.
    """
    target = used_bytes(tx.driver) - size
    while rows > 0 or (size > 0 and used_bytes(tx.driver) > target):
        found = tx.connection.execute(_OLDEST_ENDED, {"rows": max(rows, MIN_PRUNE_ROWS)}).all()
        if not found:
            return False
        _delete(tx, found)
        rows -= len(found)
    tx.standing.forget_bytes()
    return True


def forget_ids(tx: Tx, bounds: Bounds) -> int:
    """Delete terminal rows past the dedupe window. Returns how many; call again while it is `STEP_ROWS`."""
    found = tx.connection.execute(_ENDED_BEFORE, {"before": tx.now_ms - bounds.dedupe_window_ms}).all()
    _delete(tx, found)
    return len(found)


def drop_content(tx: Tx, bounds: Bounds) -> int:
    """Drop the content of rows that were delivered long enough ago; id and digest stay."""
    before = tx.now_ms - bounds.content_after_delivery_ms
    found = tx.connection.execute(_KEPT_BEFORE, {"before": before}).all()
    if found:
        tx.connection.execute(_DROP_CONTENT, [{"event_id": row.id} for row in found])
        for row in found:
            tx.ledger.hold((row.host, row.workspace), -row.size)
    return len(found)


def expire(tx: Tx, max_age_ms: int) -> int:
    """Dead-letter what has waited longer than ``max_age_ms``, unless it is in flight."""
    found = tx.connection.execute(_TOO_OLD, {"before": tx.now_ms - max_age_ms}).all()
    if found:
        tx.connection.execute(_EXPIRE, [{"event_id": row.id, "now": tx.now_ms} for row in found])
        for row in found:
            lanes.shrink(tx, row.lane_id, 1)
            tx.ledger.move((row.host, row.workspace), State.QUEUED, State.DEAD)
            tx.ledger.charge(row.uid, -1, -row.size)
    return len(found)


def clamp(tx: Tx, *, longest_wait_ms: int, settle_delay_ms: int) -> int:
    """Undo what a wall clock that jumped back did: no lane waits longer than any backoff can be."""
    look = tx.connection.execute(_CLAMP_LOOK, {"latest_look": tx.now_ms + settle_delay_ms}).rowcount
    due = tx.connection.execute(
        _CLAMP_DUE, {"latest_due": tx.now_ms + longest_wait_ms, "now": tx.now_ms}
    ).rowcount
    return due + look


def _delete(tx: Tx, found: Sequence[Row[Any]]) -> None:
    if found:
        tx.connection.execute(_DELETE, [{"event_id": row.id} for row in found])
    for row in found:
        place = (row.host, row.workspace)
        tx.ledger.move(place, State(row.state), None)
        if row.held:
            tx.ledger.hold(place, -row.size)

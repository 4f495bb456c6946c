"""Lanes that wait for their turn (``writeFrequency``).

What is not due yet is held: on disk like everything else, in its lane, and sent once enough turns or the
session have ended. ``lane.held_from`` is the first event that is held; null when none is. Nothing is held for
longer than `HELD_MS`: a session whose end nobody announces is sent all the same.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Row, and_, bindparam, case, func, select, text, update

from honchod.outbox.schema import event, lane
from honchod.outbox.transaction import Tx
from honchod.outbox.values import LaneKey

HELD_MS: Final = 3_600_000
"""The longest that an event is held."""

_LOOKABLE: Final[ColumnElement[int]] = func.max(bindparam("due"), func.coalesce(lane.c.look_at, 0))

SOONER: Final[ColumnElement[int]] = case(
    (lane.c.due_at.is_(None), _LOOKABLE),
    (
        and_(lane.c.held_from.is_not(None), lane.c.failures == 0, lane.c.losses == 0),
        func.min(lane.c.due_at, _LOOKABLE),
    ),
    else_=lane.c.due_at,
)
"""The due time of a lane with something due at ``:due``: what was held no longer is, a backoff stands."""

_HOLD: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"))
    .values(
        pending=lane.c.pending + bindparam("rows"),
        held_from=func.coalesce(lane.c.held_from, bindparam("first")),
        due_at=func.coalesce(lane.c.due_at, func.max(bindparam("due"), func.coalesce(lane.c.look_at, 0))),
    )
)
_RELEASE: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"))
    .values(due_at=case((lane.c.pending > 0, SOONER), else_=None), held_from=None, turns=0)
)
_LANE: Final = select(lane.c.id).where(
    lane.c.host == bindparam("host"),
    lane.c.workspace == bindparam("workspace"),
    lane.c.session == bindparam("session"),
)
_COUNT: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"))
    .values(turns=lane.c.turns + 1)
    .returning(lane.c.turns)
)
_FIRST_WAITING: Final = select(func.min(event.c.id)).where(
    text("event.state = 'queued'"), event.c.lane_id == bindparam("lane_id")
)


def hold(tx: Tx, lane_id: int, rows: int, first: int) -> None:
    """So many more events wait, from event ``first`` on, and are held."""
    tx.connection.execute(
        _HOLD, {"lane_id": lane_id, "rows": rows, "first": first, "due": tx.now_ms + HELD_MS}
    )


def release(tx: Tx, lane_id: int) -> None:
    """What the lane holds is due now, and the count of its turns starts again. A backoff keeps its time."""
    tx.connection.execute(_RELEASE, {"lane_id": lane_id, "due": tx.now_ms})


def turn_ended(tx: Tx, lane_id: int, every: int | None) -> None:
    """A turn of the lane's session ended: with every nth one (``every``; None: with none), release."""
    turns = tx.connection.execute(_COUNT, {"lane_id": lane_id}).scalar_one()
    if every is not None and turns >= every:
        release(tx, lane_id)


def turn_ended_in(tx: Tx, key: LaneKey, every: int | None) -> None:
    """As `turn_ended`, for a turn of which nothing was stored. Without a lane there is nothing to send."""
    place = {"host": key.host, "workspace": key.workspace, "session": key.session}
    lane_id = tx.connection.execute(_LANE, place).scalar()
    if lane_id is not None:
        turn_ended(tx, lane_id, every)


def rest_due_in_ms(tx: Tx, row: Row[Any], due_in_ms: int) -> int:
    """When what is left in a lane (``row``) is due: what came meanwhile may be held."""
    if row.held_from is None:
        return due_in_ms
    first = tx.connection.execute(_FIRST_WAITING, {"lane_id": row.id}).scalar()
    return due_in_ms if first is None or first < row.held_from else max(HELD_MS, due_in_ms)

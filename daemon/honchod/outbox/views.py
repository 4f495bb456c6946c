"""What a status shows, read by a connection that cannot write. Never content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, bindparam, func, select, text
from sqlalchemy.engine import Connection

from honchod.outbox import retention, tally
from honchod.outbox.schema import SUSPECT_AFTER, event, lane
from honchod.outbox.values import Counts

TOP_LANES: Final = 20

OLDEST_LOOKED_AT: Final = 1000
"""Among so many of the oldest waiting events the lanes are looked for that have waited longest."""

_FIRST_QUEUED: Final = (
    select(event.c.queued_at)
    .where(text("event.state = 'queued'"), event.c.lane_id == lane.c.id)
    .order_by(event.c.id)
    .limit(1)
    .correlate(lane)
    .scalar_subquery()
    .label("first_queued_at")
)
_TOP: Final = (
    select(lane, _FIRST_QUEUED)
    .where(text("pending > 0"))
    .order_by(lane.c.pending.desc())
    .limit(bindparam("rows"))
)
_OLD_EVENTS: Final = (
    select(event.c.lane_id)
    .where(text("event.state = 'queued'"))
    .order_by(event.c.queued_at)
    .limit(OLDEST_LOOKED_AT)
)
_LANE: Final = select(lane, _FIRST_QUEUED).where(lane.c.id == bindparam("lane_id"))
OLDEST: Final = select(func.min(event.c.queued_at)).where(text("event.state = 'queued'"))


@dataclass(frozen=True, slots=True)
class LaneRow:
    """One lane as a status shows it."""

    host: str
    workspace: str
    session: str
    pending: int
    first_queued_at_ms: int | None
    due_at_ms: int | None
    failures: int
    last_error: str | None
    leased: bool
    uncertain: bool
    suspect: bool
    order_gap: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """The outbox at one instant."""

    counts: Counts
    by_place: dict[tuple[str, str], Counts]
    oldest_queued_at_ms: int | None
    lanes: tuple[LaneRow, ...]
    database_bytes: int


def overview(connection: Connection, *, oldest: bool = False) -> Overview:
    """Everything a status needs, from one snapshot. ``oldest``: the lanes that have waited longest, instead
    of those with the most waiting events.
    """
    connection.exec_driver_sql("BEGIN")
    try:
        return Overview(
            counts=tally.totals(connection),
            by_place=tally.by_place(connection),
            oldest_queued_at_ms=connection.execute(OLDEST).scalar(),
            lanes=tuple(lanes(connection, TOP_LANES, oldest=oldest)),
            database_bytes=retention.database_bytes(connection),
        )
    finally:
        connection.exec_driver_sql("COMMIT")


def lanes(connection: Connection, limit: int, *, oldest: bool = False) -> list[LaneRow]:
    """The lanes with the most waiting events, or those that have waited longest."""
    if not oldest:
        return [_row(found) for found in connection.execute(_TOP, {"rows": limit})]
    # In the order of their oldest events; a dict keeps the first place of each.
    ids = list(dict.fromkeys(connection.execute(_OLD_EVENTS).scalars()))[:limit]
    return [_row(connection.execute(_LANE, {"lane_id": lane_id}).one()) for lane_id in ids]


def _row(row: Row[Any]) -> LaneRow:
    return LaneRow(
        host=row.host,
        workspace=row.workspace,
        session=row.session,
        pending=row.pending,
        first_queued_at_ms=row.first_queued_at,
        due_at_ms=row.due_at,
        failures=row.failures,
        last_error=row.last_error,
        leased=row.lease_id is not None,
        uncertain=bool(row.uncertain),
        suspect=row.losses >= SUSPECT_AFTER,
        order_gap=bool(row.order_gap),
    )

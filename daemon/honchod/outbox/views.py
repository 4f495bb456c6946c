"""What a status shows, read by a connection that cannot write. Never content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, func, select, text
from sqlalchemy.engine import Connection

from honchod.outbox import retention, tally
from honchod.outbox.schema import SUSPECT_AFTER, event, lane
from honchod.outbox.values import Counts

TOP_LANES: Final = 20

_TOP: Final = select(lane).where(text("pending > 0")).order_by(lane.c.pending.desc()).limit(bindparam("rows"))
OLDEST: Final = select(func.min(event.c.queued_at)).where(text("event.state = 'queued'"))


@dataclass(frozen=True, slots=True)
class LaneRow:
    """One lane as a status shows it."""

    host: str
    workspace: str
    session: str
    pending: int
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


def overview(connection: Connection) -> Overview:
    """Everything a status needs, from one snapshot."""
    connection.exec_driver_sql("BEGIN")
    try:
        return Overview(
            counts=tally.totals(connection),
            by_place=tally.by_place(connection),
            oldest_queued_at_ms=connection.execute(OLDEST).scalar(),
            lanes=tuple(lanes(connection, TOP_LANES)),
            database_bytes=retention.database_bytes(connection),
        )
    finally:
        connection.exec_driver_sql("COMMIT")


def lanes(connection: Connection, limit: int) -> list[LaneRow]:
    """The lanes with the most waiting events."""
    return [
        LaneRow(
            host=row.host,
            workspace=row.workspace,
            session=row.session,
            pending=row.pending,
            due_at_ms=row.due_at,
            failures=row.failures,
            last_error=row.last_error,
            leased=row.lease_id is not None,
            uncertain=bool(row.uncertain),
            suspect=row.losses >= SUSPECT_AFTER,
            order_gap=bool(row.order_gap),
        )
        for row in connection.execute(_TOP, {"rows": limit})
    ]

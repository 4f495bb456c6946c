"""What a status shows, read by a connection that cannot write. Never content."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Row, bindparam, func, select, text
from sqlalchemy.engine import Connection

from honchod.outbox import database, retention, tally, uncounted
from honchod.outbox.compiled import IDS
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
_THESE: Final = select(lane, _FIRST_QUEUED).where(lane.c.id.in_(IDS))
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
        by_place = tally.by_place(connection)
        return Overview(
            counts=tally.total(by_place.values()),
            by_place=by_place,
            oldest_queued_at_ms=connection.execute(OLDEST).scalar(),
            lanes=tuple(lanes(connection, TOP_LANES, oldest=oldest)),
            database_bytes=retention.database_bytes(connection),
        )
    finally:
        connection.exec_driver_sql("COMMIT")


def lanes(connection: Connection, limit: int, *, oldest: bool = False) -> list[LaneRow]:
    """The lanes with the most waiting events, or those that have waited longest."""
    more = _uncounted(connection)
    if not oldest:
        found = {row.id: row for row in connection.execute(_TOP, {"rows": limit})}
        found.update(_these(connection, more.keys() - found.keys()))
        rows = [_row(row, more.get(lane_id)) for lane_id, row in found.items()]
        return sorted(rows, key=lambda row: row.pending, reverse=True)[:limit]
    # In the order of their oldest events; a dict keeps the first place of each.
    ids = list(dict.fromkeys(connection.execute(_OLD_EVENTS).scalars()))[:limit]
    found = _these(connection, ids)
    return [_row(found[lane_id], more.get(lane_id)) for lane_id in ids]


def _these(connection: Connection, ids: Collection[int]) -> dict[int, Row[Any]]:
    asked = {"ids": msgspec.json.encode(sorted(ids)).decode()}
    return {row.id: row for row in connection.execute(_THESE, asked)} if ids else {}


class _More(NamedTuple):
    """What a lane's row does not know yet: so many more events wait, and have been due for so long."""

    rows: int
    since_ms: int


def _uncounted(connection: Connection) -> dict[int, _More]:
    found: dict[int, _More] = {}
    for one in uncounted.read(database.driver_of(connection)):
        rows, since_ms = found.get(one.lane_id, (0, one.since_ms))
        found[one.lane_id] = _More(rows + one.rows, min(since_ms, one.since_ms))
    return found


def _due_at_ms(row: Row[Any], more: _More | None) -> int | None:
    waits = row.due_at is not None and (row.held_from is None or row.failures > 0 or row.losses > 0)
    return row.due_at if more is None or waits else max(more.since_ms, row.look_at or 0)


def _row(row: Row[Any], more: _More | None) -> LaneRow:
    return LaneRow(
        host=row.host,
        workspace=row.workspace,
        session=row.session,
        pending=row.pending + (more.rows if more else 0),
        first_queued_at_ms=row.first_queued_at,
        due_at_ms=_due_at_ms(row, more),
        failures=row.failures,
        last_error=row.last_error,
        leased=row.lease_id is not None,
        uncertain=bool(row.uncertain),
        suspect=row.losses >= SUSPECT_AFTER,
        order_gap=bool(row.order_gap),
    )

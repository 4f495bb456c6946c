"""What was stored and is not counted yet: the last events, up to the newest.

An acknowledgement waits for one statement, the insert of its events. That they wait in their lanes, and what
they add to the counters, follows with the next transaction that has anything else to do; so it is in time for
whoever acts on it. What the counters have is said by ``tally.counted_upto``: all events up to the highest.
Those after it were taken in, are due, and nothing else has happened to them.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Integer, bindparam, func, literal_column, select

from honchod.outbox.compiled import Compiled
from honchod.outbox.schema import event, lane, tally

COUNTED_UPTO: Final = select(func.coalesce(func.max(tally.c.counted_upto), 0))
"""The last event that the counters have."""
NEWEST: Final = select(func.coalesce(func.max(event.c.id), 0))
"""The last event that there is."""
_IS_UNCOUNTED: Final = event.c.id > COUNTED_UPTO.scalar_subquery()
# With the sign SQLite cannot choose an index on the lane, in which it would read all that there ever was.
_its_lane: Final[ColumnElement[int]] = literal_column("+event.lane_id", Integer)
_UNCOUNTED: Final = (
    select(
        event.c.lane_id,
        lane.c.host,
        lane.c.workspace,
        event.c.uid,
        func.count(),
        func.sum(event.c.size),
        func.min(event.c.queued_at),
    )
    .join_from(event, lane)
    .where(_IS_UNCOUNTED)
    .group_by(_its_lane, event.c.uid)
)
_OF_LANE: Final = select(func.count()).where(_IS_UNCOUNTED, _its_lane == bindparam("lane_id"))
_READ: Final = Compiled(_UNCOUNTED)
_READ_OF_LANE: Final = Compiled(_OF_LANE)


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Events of one uid in one lane that wait and are not counted."""

    lane_id: int
    host: str
    workspace: str
    uid: int
    rows: int
    bytes: int
    since_ms: int


def read(driver: sqlite3.Connection) -> list[Uncounted]:
    """All that is not counted."""
    return [Uncounted(*row) for row in _READ.run(driver, {})]


def of_lane(driver: sqlite3.Connection, lane_id: int) -> int:
    """How many events of a lane are not counted."""
    (rows,) = _READ_OF_LANE.run(driver, {"lane_id": lane_id}).fetchone()
    return int(rows)

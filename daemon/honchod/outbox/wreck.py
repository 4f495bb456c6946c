"""A damaged database, read as far as it can be. Nothing in it is changed.

SQLite stops at the first page that it cannot follow. So a table is read by ranges of its row ids: where a
range breaks off, its rest is halved, until the rows that cannot be reached are alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, Table, func, literal_column, select, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from honchod.outbox.schema import event, tally
from honchod.outbox.uncounted import COUNTED_UPTO

LAST_ROW: Final = 1 << 16
"""Up to this row id a table is looked through whose last one is not known."""
FRUITLESS_MAX: Final = 50_000
"""After so many looks that found a broken place, what is left of a table is given up."""
HOPELESS: Final = 10_000
"""After so many of them without one row, there is no way into the table."""

_SEQUENCE: Final = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
_TALLIED: Final = select(func.sum(tally.c.queued + tally.c.delivered + tally.c.dead + tally.c.discarded))
EVERYTHING: Final = sys.maxsize
"""No event has a higher id."""
# Each is answered by its index alone, so that a broken table does not matter.
_NAMES: Final = (
    "SELECT id, lane_id, message_id, part FROM event INDEXED BY sqlite_autoindex_event_1 "
    "ORDER BY lane_id {0}, message_id {0}, part {0}"
)
_PLACES: Final = (
    "SELECT id, host, workspace, session FROM lane INDEXED BY sqlite_autoindex_lane_1 "
    "ORDER BY host {0}, workspace {0}, session {0}"
)


@dataclass(frozen=True, slots=True)
class Name:
    """An event that an index still names: its lane, and its message."""

    id: int
    lane_id: int
    message_id: str
    part: int


def has_schema(source: Connection) -> bool:
    """Whether it can still be read which tables there are, and where."""
    try:
        names_ = source.exec_driver_sql("SELECT name FROM sqlite_schema").scalars().all()
    except DBAPIError:
        return False
    return event.name in names_


def columns_of(source: Connection, of: Table) -> tuple[str, ...]:
    """The columns of a table that the damaged database has too (it may be of an older version)."""
    try:
        there = {row[1] for row in source.exec_driver_sql(f"PRAGMA table_info({of.name})")}
    except DBAPIError:
        return ()
    return tuple(one.name for one in of.columns if one.name in there)


def rows(source: Connection, of: Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Every row of a table that can be read: these columns, as SQLite holds them."""
    statement = (
        f"SELECT rowid, {', '.join(columns)} FROM {of.name} "  # noqa: S608 (names of our own)
        "WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
    )
    ranges = [(1, last_row(source, of))]
    fruitless, limit = 0, HOPELESS
    while ranges and fruitless < limit:
        first, last = ranges.pop()
        try:
            for row_id, *values in source.exec_driver_sql(statement, (first, last)):
                first, limit = row_id + 1, FRUITLESS_MAX
                yield tuple(values)
        except DBAPIError:
            fruitless += 1
            if first < last:
                middle = (first + last) // 2
                ranges += [(middle + 1, last), (first, middle)]


def last_row(source: Connection, of: Table) -> int:
    """The last row id of a table, as far as anything in the database still tells."""
    return max(_last_there(source, of), sequence(source, of)) or LAST_ROW


def sequence(source: Connection, of: Table) -> int:
    """The last id that was ever given out in a table with AUTOINCREMENT; 0 when nothing tells."""
    try:
        return int(source.execute(_SEQUENCE, {"name": of.name}).scalar() or 0)
    except DBAPIError:
        return 0


def tallied(source: Connection) -> int | None:
    """How many events there were by the counters; None when those cannot be read.

    What was not counted yet has the ids that were given out last, without a gap.
    """
    try:
        found = source.execute(_TALLIED).scalar()
    except DBAPIError:
        return None
    return None if found is None else int(found) + max(0, sequence(source, event) - counted_upto(source))


def counted_upto(source: Connection) -> int:
    """The last event that counters and lanes have: in an older version all; 0 when nothing tells."""
    if tally.c.counted_upto.name not in columns_of(source, tally):
        return EVERYTHING
    try:
        return int(source.execute(COUNTED_UPTO).scalar_one())
    except DBAPIError:
        return 0


def names(source: Connection) -> Iterator[Name]:
    """The events that their unique index still names."""
    for row in _by_index(source, _NAMES):
        yield Name(row.id, row.lane_id, row.message_id, row.part)


def places(source: Connection) -> dict[int, tuple[str, str, str]]:
    """Host, workspace and session of the lanes that their unique index still names, by lane id."""
    return {row.id: (row.host, row.workspace, row.session) for row in _by_index(source, _PLACES)}


def _by_index(source: Connection, statement: str) -> Iterator[Row[Any]]:
    """What an index holds: from its beginning, and where that breaks off, from its end."""
    for direction in ("ASC", "DESC"):
        try:
            yield from source.exec_driver_sql(statement.format(direction))
        except DBAPIError:
            continue
        return


def _last_there(source: Connection, of: Table) -> int:
    try:
        return source.execute(select(func.max(literal_column("rowid"))).select_from(of)).scalar() or 0
    except DBAPIError:
        return 0

"""Counters that are kept while rows change, so that nobody ever has to count a backlog.

A `Ledger` collects what the operations of one transaction change, and the writer writes the sum once per
commit. Of an operation that is rolled back nothing is left in it.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, replace
from typing import Final

from sqlalchemy import bindparam, case, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Connection

from honchod.outbox import database, uncounted
from honchod.outbox.compiled import Compiled
from honchod.outbox.schema import event, lane, share, tally
from honchod.outbox.states import State
from honchod.outbox.values import Counts

FIELDS: Final = ("queued", "delivered", "dead", "discarded", "bytes", "delivered_ever")
_STATES: Final = tuple(state.value for state in State)

Differences = dict[str, int]


def _of_a_place() -> Differences:
    return dict.fromkeys(FIELDS, 0)


def _of_a_uid() -> Differences:
    return {"rows": 0, "bytes": 0}


def _add(to: Differences, more: Differences) -> None:
    for name, number in more.items():
        to[name] += number


def _by_place() -> defaultdict[tuple[str, str], Differences]:
    return defaultdict(_of_a_place)


def _by_uid() -> defaultdict[int, Differences]:
    return defaultdict(_of_a_uid)


def _by_state() -> defaultdict[State, int]:
    return defaultdict(int)


@dataclass(slots=True)
class Ledger:
    """Differences: per host and workspace, and per uid (rows and bytes that wait to be delivered).

    ``rows`` is how many more rows are held. ``room`` is what new rows may take of the database, in bytes: no
    more than a bound, unlike the counters. ``entered`` counts the events that came into each state, whatever
    left it meanwhile. ``grown`` is by how many due events each lane grew of which its row does not know.
    """

    tally: defaultdict[tuple[str, str], Differences] = field(default_factory=_by_place)
    share: defaultdict[int, Differences] = field(default_factory=_by_uid)
    rows: int = 0
    room: int = 0
    entered: defaultdict[State, int] = field(default_factory=_by_state)
    grown: dict[int, int] = field(default_factory=dict)

    def move(
        self, place: tuple[str, str], source: State | None, target: State | None, *, rows: int = 1
    ) -> None:
        """``rows`` events of ``place`` went from one state to another (None: not there)."""
        counter = self.tally[place]
        if source is not None:
            counter[source] -= rows
            self.rows -= rows
        if target is not None:
            counter[target] += rows
            self.rows += rows
            self.entered[target] += rows
            if target is State.DELIVERED:
                counter["delivered_ever"] += rows

    def hold(self, place: tuple[str, str], size: int) -> None:
        """``size`` more bytes of content are held (fewer, when negative)."""
        self.tally[place]["bytes"] += size

    def charge(self, uid: int, rows: int, size: int) -> None:
        """``rows`` more events of this uid, ``size`` bytes, wait to be delivered (fewer, when negative)."""
        counter = self.share[uid]
        counter["rows"] += rows
        counter["bytes"] += size

    def take_in(self, place: tuple[str, str], uid: int, rows: int, size: int) -> None:
        """``rows`` new events of ``place`` and this uid wait, ``size`` bytes."""
        self.move(place, None, State.QUEUED, rows=rows)
        self.hold(place, size)
        self.charge(uid, rows, size)

    def grow(self, lane_id: int, rows: int) -> None:
        """``rows`` more events of a lane wait, due, and its row is told later."""
        self.grown[lane_id] = self.grown.get(lane_id, 0) + rows

    def add(self, other: Ledger) -> None:
        """What the other says happened too."""
        for place, counter in other.tally.items():
            _add(self.tally[place], counter)
        for uid, counter in other.share.items():
            _add(self.share[uid], counter)
        for state, rows in other.entered.items():
            self.entered[state] += rows
        for lane_id, rows in other.grown.items():
            self.grow(lane_id, rows)
        self.rows += other.rows
        self.room += other.room

    def copy(self) -> Ledger:
        """What it says now, whatever is added later."""
        copy = Ledger()
        copy.add(self)
        return copy


_tally_insert = insert(tally).values(
    {
        **{name: bindparam(name) for name in ("host", "workspace", *FIELDS)},
        "counted_upto": uncounted.NEWEST.scalar_subquery(),
    }
)
_TALLY = _tally_insert.on_conflict_do_update(
    index_elements=[tally.c.host, tally.c.workspace],
    set_={
        **{name: tally.c[name] + _tally_insert.excluded[name] for name in FIELDS},
        "counted_upto": func.max(tally.c.counted_upto, _tally_insert.excluded.counted_upto),
    },
)
_share_insert = insert(share).values({name: bindparam(name) for name in ("uid", "rows", "bytes")})
_SHARE = _share_insert.on_conflict_do_update(
    index_elements=[share.c.uid],
    set_={name: share.c[name] + _share_insert.excluded[name] for name in ("rows", "bytes")},
)
_BY_PLACE = select(tally.c.host, tally.c.workspace, *(tally.c[name] for name in FIELDS))
_SHARE_OF = select(share.c.rows, share.c.bytes).where(share.c.uid == bindparam("uid"))
_WRITE_TALLY: Final = Compiled(_TALLY)
_WRITE_SHARE: Final = Compiled(_SHARE)
_READ_SHARE: Final = Compiled(_SHARE_OF)
_READ_ROWS: Final = Compiled(select(func.coalesce(func.sum(sum(tally.c[name] for name in _STATES)), 0)))
_RECOUNT = (
    select(
        lane.c.host,
        lane.c.workspace,
        event.c.state,
        func.count().label("rows"),
        func.sum(case((event.c.content.is_not(None), event.c.size), else_=0)).label("bytes"),
    )
    .join_from(event, lane)
    .group_by(lane.c.host, lane.c.workspace, event.c.state)
)


def flush(driver: sqlite3.Connection, ledger: Ledger) -> None:
    """Write a ledger's differences to the counters, which with them have all events that there are."""
    for (host, workspace), counter in ledger.tally.items():
        _WRITE_TALLY.run(driver, {"host": host, "workspace": workspace, **counter})
    for uid, counter in ledger.share.items():
        if any(counter.values()):
            _WRITE_SHARE.run(driver, {"uid": uid, **counter})


def rows(driver: sqlite3.Connection) -> int:
    """All rows that are counted."""
    (held,) = _READ_ROWS.run(driver, {}).fetchone()
    return int(held)


def not_counted(driver: sqlite3.Connection) -> Ledger:
    """The differences that the counters do not have yet."""
    ledger = Ledger()
    for more in uncounted.read(driver):
        ledger.take_in((more.host, more.workspace), more.uid, more.rows, more.bytes)
        ledger.grow(more.lane_id, more.rows)
    return ledger


def share_of(driver: sqlite3.Connection, uid: int) -> tuple[int, int]:
    """Rows and bytes of this uid that wait to be delivered, as far as they are counted."""
    row = _READ_SHARE.run(driver, {"uid": uid}).fetchone()
    return (row[0], row[1]) if row else (0, 0)


def recount(connection: Connection) -> dict[tuple[str, str], Counts]:
    """The counters by place, counted from the events themselves. Reads every row: for tests and salvage."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for host, workspace, state, rows, size in connection.execute(_RECOUNT):
        place = found.setdefault((host, workspace), {})
        place[state] = rows
        place["bytes"] = place.get("bytes", 0) + size
    return {place: Counts(**fields) for place, fields in found.items()}


def by_place(connection: Connection) -> dict[tuple[str, str], Counts]:
    """What is held, by host and workspace: the counters, and what they do not have yet."""
    found = {(row[0], row[1]): Counts(*row[2:]) for row in connection.execute(_BY_PLACE)}
    for more in uncounted.read(database.driver_of(connection)):
        place = (more.host, more.workspace)
        counted = found.get(place, Counts())
        found[place] = replace(counted, queued=counted.queued + more.rows, bytes=counted.bytes + more.bytes)
    return found


def total(counts: Iterable[Counts]) -> Counts:
    """The sum of these counters."""
    return Counts(*(sum(column) for column in zip(*map(astuple, counts), strict=True)))


def totals(connection: Connection) -> Counts:
    """What is held in all."""
    return total(by_place(connection).values())

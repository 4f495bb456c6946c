"""Counters that are kept while rows change, so that nobody ever has to count a backlog.

A `Ledger` collects what the operations of one transaction change, and the writer writes the sum once per
commit. Of an operation that is rolled back nothing is left in it.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import bindparam, case, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Connection

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
    left it meanwhile.
    """

    tally: defaultdict[tuple[str, str], Differences] = field(default_factory=_by_place)
    share: defaultdict[int, Differences] = field(default_factory=_by_uid)
    rows: int = 0
    room: int = 0
    entered: defaultdict[State, int] = field(default_factory=_by_state)

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

    def copy(self) -> Ledger:
        """What it says now, whatever is added later."""
        return Ledger(
            defaultdict(_of_a_place, {place: counter.copy() for place, counter in self.tally.items()}),
            defaultdict(_of_a_uid, {uid: counter.copy() for uid, counter in self.share.items()}),
            self.rows,
            self.room,
            self.entered.copy(),
        )


_tally_insert = insert(tally).values({name: bindparam(name) for name in ("host", "workspace", *FIELDS)})
_TALLY = _tally_insert.on_conflict_do_update(
    index_elements=[tally.c.host, tally.c.workspace],
    set_={name: tally.c[name] + _tally_insert.excluded[name] for name in FIELDS},
)
_share_insert = insert(share).values({name: bindparam(name) for name in ("uid", "rows", "bytes")})
_SHARE = _share_insert.on_conflict_do_update(
    index_elements=[share.c.uid],
    set_={name: share.c[name] + _share_insert.excluded[name] for name in ("rows", "bytes")},
)
_TOTALS = select(*(func.coalesce(func.sum(tally.c[name]), 0).label(name) for name in FIELDS))
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
    """Write a ledger's differences to the counters."""
    for (host, workspace), counter in ledger.tally.items():
        if any(counter.values()):
            _WRITE_TALLY.run(driver, {"host": host, "workspace": workspace, **counter})
    for uid, counter in ledger.share.items():
        if any(counter.values()):
            _WRITE_SHARE.run(driver, {"uid": uid, **counter})


def totals(connection: Connection) -> Counts:
    """All counters, summed over hosts."""
    row = connection.execute(_TOTALS).one()
    return Counts(*row)


def rows(driver: sqlite3.Connection) -> int:
    """All rows that are held."""
    (held,) = _READ_ROWS.run(driver, {}).fetchone()
    return int(held)


def share_of(driver: sqlite3.Connection, uid: int) -> tuple[int, int]:
    """Rows and bytes of this uid that wait to be delivered."""
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
    """The counters by host and workspace."""
    return {(row[0], row[1]): Counts(*row[2:]) for row in connection.execute(_BY_PLACE)}

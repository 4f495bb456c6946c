"""Saving what can be read of a damaged database into a fresh one; the damaged one is kept, whole, beside it.

Until the fresh one is whole nothing has happened (see ``replacing``).
"""

from __future__ import annotations

import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Table, bindparam, case, func, insert, select, text, update
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from honchod.ids import uuid7
from honchod.outbox import database, kept, notices, replacing, tally, wreck
from honchod.outbox.migrate import migrate, refuse_newer, revision
from honchod.outbox.notices import Salvaged
from honchod.outbox.replacing import Why
from honchod.outbox.schema import event, lane, metadata, share
from honchod.outbox.schema import tally as tally_table
from honchod.outbox.sqlite_errors import is_no_room
from honchod.outbox.states import State
from honchod.outbox.transplant import transplant_schema
from honchod.outbox.uncounted import NEWEST
from honchod.outbox.values import Counts
from honchod.outbox.wreck import Name

GROUP: Final = 500
UNKNOWN: Final = "unknown"
"""Host and workspace of events whose lane is lost: they wait, and status names them."""

_DERIVED: Final = frozenset({tally_table, share})
"""Counted anew from what was saved."""
_MADE: Final = "salvaging"
_COPY: Final = "wreck"

_QUEUED_OF_LANE: Final = (
    select(func.count()).where(text("event.state = 'queued'"), event.c.lane_id == lane.c.id).scalar_subquery()
)
_COUNT_PENDING: Final = update(lane).values(pending=_QUEUED_OF_LANE)
_MAKE_DUE: Final = update(lane).values(
    due_at=case((lane.c.pending > 0, func.coalesce(lane.c.due_at, bindparam("now"))), else_=None)
)
_LANES: Final = select(lane.c.id, lane.c.pending)
_NEW_LANE: Final = insert(lane).prefix_with("OR IGNORE")
_NEW_EVENT: Final = insert(event).prefix_with("OR IGNORE")
_EVENTS: Final = select(event.c.id, event.c.lane_id, event.c.state)
_SHARES: Final = (
    select(event.c.uid, func.count().label("rows"), func.sum(event.c.size).label("bytes"))
    .where(text("event.state = 'queued'"))
    .group_by(event.c.uid)
)
_SEQUENCE: Final = text("UPDATE sqlite_sequence SET seq = max(seq, :seq) WHERE name = :name")


def salvage(path: Path, *, now_ms: int) -> Salvaged:
    """Replace the damaged database at ``path`` by a fresh one with all that can be read of it.

    Raises `DatabaseTooNew` when it belongs to a newer version, and `OSError` or sqlite3's errors when there
    is no room for a second one; then nothing has changed.
    """
    stamp = replacing.stamp(path, Why.SALVAGED, now_ms)
    fresh = path.with_name(f"{path.name}.{_MADE}")
    _remove(fresh)
    with closing(database.open_writer(fresh)) as target:
        migrate(target, fresh)
    with _source(path, fresh) as source, closing(database.open_writer(fresh)) as target:
        refuse_newer(_revision(source), path)
        saved = _save(source, target, now_ms, replacing.aside(path, Why.SALVAGED, stamp).name)
    database.sync(fresh)
    replacing.commit(path, fresh, Why.SALVAGED, stamp)
    return saved


@contextmanager
def _source(path: Path, fresh: Path) -> Iterator[Connection]:
    """The damaged database, opened to be read; where its schema is broken, a copy of it with a sound one."""
    with closing(database.open_wreck(path)) as source:
        if wreck.has_schema(source):
            yield source
            return
    copy = path.with_name(f"{path.name}.{_COPY}")
    _remove(copy)
    for old, new in zip(database.files(path), database.files(copy), strict=True):
        if old.exists():
            shutil.copyfile(old, new)
    transplant_schema(fresh, copy)
    try:
        with closing(database.open_wreck(copy)) as source:
            yield source
    finally:
        _remove(copy)


def _save(source: Connection, target: Connection, now_ms: int, kept_as: str) -> Salvaged:
    target.exec_driver_sql("BEGIN IMMEDIATE")
    for of in metadata.sorted_tables:
        if of not in _DERIVED and of is not event and not of.foreign_keys:
            _insert(target, of, columns := wreck.columns_of(source, of), wreck.rows(source, of, columns))
    lanes = _Lanes(source, target)
    columns = wreck.columns_of(source, event)
    _insert(target, event, columns, _in_lanes(wreck.rows(source, event, columns), columns, lanes))
    for of in metadata.sorted_tables:
        if of is not event and of.foreign_keys:
            _insert(target, of, columns := wreck.columns_of(source, of), wreck.rows(source, of, columns))
    events, unreadable = _name_the_lost(source, target, lanes, now_ms)
    _count_anew(source, target, now_ms)
    known = wreck.tallied(source)
    missing = None if known is None else max(0, known - events - unreadable)
    saved = Salvaged(now_ms, events, unreadable, missing, kept_as)
    kept.doubt(target)
    notices.put(target, saved)
    target.exec_driver_sql("COMMIT")
    target.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return saved


class _Lanes:
    """The lanes of the fresh database. One that was lost is made again under the name that is left of it."""

    def __init__(self, source: Connection, target: Connection) -> None:
        self._target = target
        self._places = wreck.places(source)
        self.pending: dict[int, int | None] = {row.id: row.pending for row in target.execute(_LANES)}
        """How many events waited in each; None where nothing tells."""

    def need(self, lane_id: int) -> None:
        """Have this lane."""
        if lane_id in self.pending:
            return
        host, workspace, session = self._places.get(lane_id, (UNKNOWN, UNKNOWN, f"lane-{lane_id}"))
        self._target.execute(
            _NEW_LANE, {"id": lane_id, "host": host, "workspace": workspace, "session": session}
        )
        self.pending[lane_id] = None


def _in_lanes(
    rows: Iterable[tuple[Any, ...]], columns: Sequence[str], lanes: _Lanes
) -> Iterator[tuple[Any, ...]]:
    """The events, each with a lane to be in."""
    place = columns.index("lane_id") if columns else 0
    for row in rows:
        if isinstance(row[place], int):
            lanes.need(row[place])
            yield row


def _insert(target: Connection, of: Table, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Store what the tables still take: a row that breaks their rules is no row of ours."""
    statement = (
        f"INSERT OR IGNORE INTO {of.name} ({', '.join(columns)}) "  # noqa: S608 (names of our own)
        f"VALUES ({', '.join('?' * len(columns))})"
    )
    if not columns:
        return
    remaining = iter(rows)
    while group := list(islice(remaining, GROUP)):
        try:
            target.exec_driver_sql(statement, group)
        except DBAPIError:
            for row in group:
                _insert_one(target, statement, row)


def _insert_one(target: Connection, statement: str, row: tuple[Any, ...]) -> None:
    try:
        target.exec_driver_sql(statement, row)
    except DBAPIError as error:
        if is_no_room(error):
            raise


def _name_the_lost(source: Connection, target: Connection, lanes: _Lanes, now_ms: int) -> tuple[int, int]:
    """Make dead letters of the events that waited and that only an index still names.

    An index does not tell the state; but the lane tells how many waited, and what waits is what came last.
    What the lane did not know of yet waited too. Returns how many events were read whole, and how many could
    only be named.
    """
    counted_upto = wreck.counted_upto(source)
    there: set[int] = set()
    waiting: Counter[int] = Counter()
    for row in target.execute(_EVENTS):
        there.add(row.id)
        waiting[row.lane_id] += row.state == State.QUEUED and row.id <= counted_upto
    lost: dict[int, dict[int, Name]] = {}
    for name in wreck.names(source):
        if name.id not in there:
            lost.setdefault(name.lane_id, {})[name.id] = name
    unreadable = 0
    for lane_id, by_id in lost.items():
        lanes.need(lane_id)
        pending = lanes.pending[lane_id]
        ids = sorted(by_id)
        counted = bisect_right(ids, counted_upto)
        count = counted if pending is None else min(counted, max(0, pending - waiting[lane_id]))
        for event_id in ids[counted - count :]:
            unreadable += target.execute(_NEW_EVENT, _dead(by_id[event_id], now_ms)).rowcount
    return len(there), unreadable


def _dead(name: Name, now_ms: int) -> dict[str, Any]:
    return {
        "id": name.id,
        "lane_id": name.lane_id,
        "message_id": name.message_id,
        "part": name.part,
        "parts": name.part + 1,
        "honchod_id": uuid7(),
        "kind": "message",
        "peer": "",
        "role": "",
        "author": "",
        "created_at": now_ms,
        "queued_at": now_ms,
        "size": 0,
        "digest": b"",
        "state": State.DEAD.value,
        "last_error": "unreadable",
        "ended_at": now_ms,
        "uid": 0,
    }


def _count_anew(source: Connection, target: Connection, now_ms: int) -> None:
    target.execute(_COUNT_PENDING)
    target.execute(_MAKE_DUE, {"now": now_ms})
    target.execute(_SEQUENCE, {"seq": wreck.sequence(source, event), "name": event.name})
    counted = tally.recount(target)
    last = target.execute(NEWEST).scalar()
    columns = ("host", "workspace", "delivered_ever")
    ever = {(host, workspace): number for host, workspace, number in wreck.rows(source, tally_table, columns)}
    for place in {*counted, *ever}:
        counts = counted.get(place, Counts())
        counts = replace(counts, delivered_ever=max(counts.delivered, ever.get(place, 0)))
        host, workspace = place
        target.execute(
            insert(tally_table),
            {"host": host, "workspace": workspace, **asdict(counts), "counted_upto": last},
        )
    for row in target.execute(_SHARES).all():
        target.execute(insert(share), {"uid": row.uid, "rows": row.rows, "bytes": row.bytes})


def _revision(source: Connection) -> str | None:
    try:
        return revision(source)
    except DBAPIError:
        return None


def _remove(path: Path) -> None:
    """Remove a database that was made on the way here."""
    for file in database.files(path):
        file.unlink(missing_ok=True)

"""The lane's own row: found or made, grown and shrunk, made due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import bindparam, case, func, insert, or_, select, text, update
from sqlalchemy.engine import Connection

from honchod.outbox import database, uncounted
from honchod.outbox.compiled import Compiled, ForSome
from honchod.outbox.held import SOONER
from honchod.outbox.schema import lane
from honchod.outbox.transaction import Tx
from honchod.outbox.values import LaneKey

LANES_REMEMBERED: Final = 4096

_LANE: Final = select(lane.c.id, lane.c.scope).where(
    lane.c.host == bindparam("host"),
    lane.c.workspace == bindparam("workspace"),
    lane.c.session == bindparam("session"),
)
PENDING: Final = select(lane.c.id, lane.c.pending).where(
    lane.c.host == bindparam("host"),
    lane.c.workspace == bindparam("workspace"),
    lane.c.session == bindparam("session"),
)
_NEW_LANE: Final = insert(lane).returning(lane.c.id)
_FIND: Final = Compiled(_LANE)
_SCOPE: Final = update(lane).where(lane.c.id == bindparam("lane_id")).values(scope=bindparam("new_scope"))
_GROW: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"))
    .values(
        pending=lane.c.pending + bindparam("rows"),
        due_at=SOONER,
        held_from=None,
    )
)
_MORE: Final = Compiled(_GROW)
_these = lane.c.id.in_([bindparam("lane_id")])
MAKE_DUE: Final = (
    update(lane)
    .where(or_(lane.c.due_at.is_(None), lane.c.held_from.is_not(None)), _these)
    .values(due_at=SOONER, held_from=None)
)
"""Those of several lanes that are not due yet."""
COUNT_MORE: Final = update(lane).where(_these).values(pending=lane.c.pending + bindparam("rows"))
"""So many more events in each of several lanes. Nothing that a lane is found by is touched."""
_MAKE_DUE: Final = ForSome(MAKE_DUE, "lane_id")
_COUNT_MORE: Final = ForSome(COUNT_MORE, "lane_id")
_SHRINK: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"))
    .values(
        pending=lane.c.pending - bindparam("rows"),
        due_at=case((lane.c.pending == bindparam("rows"), None), else_=lane.c.due_at),
        held_from=case((lane.c.pending == bindparam("rows"), None), else_=lane.c.held_from),
    )
)
_WAKE: Final = (
    update(lane)
    .where(text("pending > 0 AND lease_id IS NULL"))
    .values(due_at=func.max(bindparam("now"), func.coalesce(lane.c.look_at, 0)), held_from=None)
)
_WAKE_HOSTS: Final = _WAKE.where(lane.c.host.in_(bindparam("hosts", expanding=True)))
_WAKE_ONE: Final = _WAKE.where(
    lane.c.host == bindparam("on_host"),
    lane.c.workspace == bindparam("on_workspace"),
    lane.c.session == bindparam("on_session"),
)


class LaneIds:
    """The ids of lanes that were written to lately and that no rollback can undo. No lane is ever deleted."""

    def __init__(self) -> None:
        self._ids: dict[LaneKey, int] = {}

    def known(self, key: LaneKey, scope: str | None) -> int | None:
        """The lane's id, where no look is needed: it is known, and nothing is said of its scope."""
        return self._ids.get(key) if scope is None else None

    def of(self, tx: Tx, key: LaneKey, scope: str | None) -> int:
        """As `lane_of`; without a look where none is needed."""
        known = self.known(key, scope)
        if known is not None:
            return known
        lane_id = lane_of(tx, key, scope)
        if lane_id not in tx.new_lanes:
            if len(self._ids) >= LANES_REMEMBERED:
                # A look costs next to nothing: it need not be known which of them are the oldest.
                self._ids.clear()
            self._ids[key] = lane_id
        return lane_id


def lane_of(tx: Tx, key: LaneKey, scope: str | None) -> int:
    """The lane's row, made when there is none. A new scope replaces the one it had."""
    place = {"host": key.host, "workspace": key.workspace, "session": key.session}
    found = _FIND.run(tx.driver, place).fetchone()
    if found is None:
        made = int(tx.connection.execute(_NEW_LANE, {**place, "scope": scope}).scalar_one())
        tx.new_lanes.add(made)
        return made
    lane_id, had = found
    if scope is not None and had != scope:
        tx.connection.execute(_SCOPE, {"lane_id": lane_id, "new_scope": scope})
    return int(lane_id)


def pending(connection: Connection, key: LaneKey) -> int:
    """How many events of a lane wait; none in one that nobody has made."""
    place = {"host": key.host, "workspace": key.workspace, "session": key.session}
    row = connection.execute(PENDING, place).one_or_none()
    return 0 if row is None else row.pending + uncounted.of_lane(database.driver_of(connection), row.id)


def grow(tx: Tx, lane_id: int, rows: int, *, due_in_ms: int) -> None:
    """So many more events wait. A lane that waits for its backoff is not made due earlier by them; what it
    held is due with them.
    """
    due = tx.now_ms + due_in_ms
    _MORE.run(tx.driver, {"lane_id": lane_id, "rows": rows, "due": due})


def grow_all(tx: Tx, rows: Mapping[int, int]) -> None:
    """As `grow`, for several lanes at once that are due now: by so many events each."""
    _MAKE_DUE.run_for(tx.driver, {"due": tx.now_ms}, list(rows))
    by_number: dict[int, list[int]] = {}
    for lane_id, number in rows.items():
        by_number.setdefault(number, []).append(lane_id)
    for number, ids in by_number.items():
        _COUNT_MORE.run_for(tx.driver, {"rows": number}, ids)


def shrink(tx: Tx, lane_id: int, rows: int) -> None:
    """So many events wait no more. A lane that became empty is not due."""
    tx.connection.execute(_SHRINK, {"lane_id": lane_id, "rows": rows})


def wake(tx: Tx, hosts: tuple[str, ...] | None = None) -> int:
    """Make all waiting lanes due now (those of some hosts, when given): as early as an unknown attempt of
    theirs may be looked up.
    """
    if hosts is None:
        return tx.connection.execute(_WAKE, {"now": tx.now_ms}).rowcount
    return tx.connection.execute(_WAKE_HOSTS, {"now": tx.now_ms, "hosts": list(hosts)}).rowcount


def wake_one(tx: Tx, key: LaneKey) -> None:
    """Make one lane due now, as `wake` does."""
    place = {"on_host": key.host, "on_workspace": key.workspace, "on_session": key.session}
    tx.connection.execute(_WAKE_ONE, {"now": tx.now_ms, **place})

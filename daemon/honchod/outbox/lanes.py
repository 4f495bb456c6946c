"""The lane's own row: found or made, grown and shrunk, made due."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

import msgspec
from sqlalchemy import Integer, bindparam, case, cast, func, insert, select, text, update
from sqlalchemy.engine import Connection

from honchod.outbox.compiled import Compiled
from honchod.outbox.held import SOONER
from honchod.outbox.schema import lane
from honchod.outbox.values import LaneKey
from honchod.outbox.writer import Tx

LANES_REMEMBERED: Final = 4096

_LANE: Final = select(lane.c.id, lane.c.scope).where(
    lane.c.host == bindparam("host"),
    lane.c.workspace == bindparam("workspace"),
    lane.c.session == bindparam("session"),
)
PENDING: Final = select(lane.c.pending).where(
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
_each = func.json_each(bindparam("lanes")).table_valued("key", "value")
_more = select(cast(_each.c.key, Integer).label("lane_id"), _each.c.value.label("rows")).subquery("more")
GROW_ALL: Final = (
    update(lane)
    .where(lane.c.id == _more.c.lane_id)
    .values(pending=lane.c.pending + _more.c.rows, due_at=SOONER, held_from=None)
)
"""As `_GROW`, for several lanes: a JSON object of their ids and numbers of rows."""
_MORE_IN_ALL: Final = Compiled(GROW_ALL)
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
        self._ids: OrderedDict[LaneKey, int] = OrderedDict()

    def of(self, tx: Tx, key: LaneKey, scope: str | None) -> int:
        """As `lane_of`; without a look where it is known and nothing is said of its scope."""
        known = self._ids.get(key) if scope is None else None
        if known is not None:
            self._ids.move_to_end(key)
            return known
        lane_id = lane_of(tx, key, scope)
        if lane_id not in tx.group.new_lanes:
            self._ids[key] = lane_id
            if len(self._ids) > LANES_REMEMBERED:
                self._ids.popitem(last=False)
        return lane_id


def lane_of(tx: Tx, key: LaneKey, scope: str | None) -> int:
    """The lane's row, made when there is none. A new scope replaces the one it had."""
    place = {"host": key.host, "workspace": key.workspace, "session": key.session}
    found = _FIND.run(tx.driver, place).fetchone()
    if found is None:
        made = int(tx.connection.execute(_NEW_LANE, {**place, "scope": scope}).scalar_one())
        tx.group.new_lanes.add(made)
        return made
    lane_id, had = found
    if scope is not None and had != scope:
        tx.connection.execute(_SCOPE, {"lane_id": lane_id, "new_scope": scope})
    return int(lane_id)


def pending(connection: Connection, key: LaneKey) -> int:
    """How many events of a lane wait; none in one that nobody has made."""
    place = {"host": key.host, "workspace": key.workspace, "session": key.session}
    return connection.execute(PENDING, place).scalar() or 0


def grow(tx: Tx, lane_id: int, rows: int, *, due_in_ms: int) -> None:
    """So many more events wait. A lane that waits for its backoff is not made due earlier by them; what it
    held is due with them.
    """
    due = tx.now_ms + due_in_ms
    _MORE.run(tx.driver, {"lane_id": lane_id, "rows": rows, "due": due})


def grow_all(tx: Tx, rows: Mapping[int, int]) -> None:
    """As `grow`, for several lanes at once that are due now: by so many events each."""
    _MORE_IN_ALL.run(tx.driver, {"lanes": msgspec.json.encode(rows).decode(), "due": tx.now_ms})


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

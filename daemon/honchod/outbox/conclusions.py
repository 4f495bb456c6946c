"""Conclusions in the outbox: taken in once, found by either of their ids, forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, Select, bindparam, delete, select, text, update
from sqlalchemy.engine import Connection

from honchod.outbox import intake, lanes, search
from honchod.outbox.schema import event, lane
from honchod.outbox.search import WaitingRow, waiting_row
from honchod.outbox.states import TERMINAL, State, check
from honchod.outbox.transaction import Tx
from honchod.outbox.values import Append, Appended, Bounds

_CONCLUSION: Final = text("event.kind = 'conclusion'")
_KNOWN: Final = (
    select(event.c.message_id)
    .join_from(event, lane)
    .where(
        _CONCLUSION,
        event.c.digest == bindparam("digest"),
        text("event.state IN ('queued', 'delivered')"),
        lane.c.host == bindparam("host"),
        lane.c.workspace == bindparam("workspace"),
    )
    .limit(1)
)
_COLUMNS: Final = (
    event.c.id,
    event.c.state,
    event.c.remote_id,
    event.c.uid,
    event.c.size,
    event.c.content.is_not(None).label("held"),
    event.c.lane_id,
    lane.c.host,
    lane.c.workspace,
    lane.c.lease_first,
    lane.c.lease_last,
    lane.c.uncertain,
    lane.c.uncertain_first,
    lane.c.uncertain_last,
)
_IDS: Final = (
    select(event.c.id)
    .where(_CONCLUSION, event.c.message_id == bindparam("of_id"))
    .union_all(select(event.c.id).where(_CONCLUSION, event.c.remote_id == bindparam("of_id")))
)
_NAMED: Final[Select[Any]] = (
    select(*_COLUMNS)
    .join_from(event, lane)
    .where(
        event.c.id.in_(_IDS),
        lane.c.workspace == bindparam("workspace"),
        lane.c.host.in_(bindparam("hosts", expanding=True)),
    )
)
_ROWS: Final[Select[Any]] = (
    select(*_COLUMNS).join_from(event, lane).where(event.c.id.in_(bindparam("ids", expanding=True)))
)
_LATEST: Final = (
    select(
        event.c.id,
        event.c.message_id,
        event.c.kind,
        event.c.peer,
        event.c.role,
        event.c.content,
        event.c.created_at,
        lane.c.session,
    )
    .join_from(event, lane)
    .where(
        _CONCLUSION,
        text("event.state = 'queued'"),
        event.c.peer == bindparam("peer"),
        lane.c.workspace == bindparam("workspace"),
        lane.c.host.in_(bindparam("hosts", expanding=True)),
    )
    .order_by(event.c.id.desc())
    .limit(bindparam("rows"))
)
_DISCARD: Final = (
    update(event)
    .where(event.c.id == bindparam("event_id"))
    .values(state=State.DISCARDED.value, ended_at=bindparam("now"), content=None, metadata=None)
)
_DELETE: Final = delete(event).where(event.c.id == bindparam("event_id"))


@dataclass(frozen=True, slots=True)
class ConclusionRow:
    """A conclusion as the outbox knows it. ``in_doubt``: it is on its way, or may have arrived."""

    id: int
    state: State
    remote_id: str | None
    in_doubt: bool


@dataclass(frozen=True, slots=True)
class Erased:
    """How many rows that waited or were dead are gone, and how many were left because they are in doubt."""

    waiting: int
    in_doubt: int


def append(tx: Tx, request: Append, bounds: Bounds) -> Appended:
    """Queue a conclusion, unless the same stands in the queue or was delivered, in whatever session.

    Raises as `intake.append` does.
    """
    (new,) = request.events
    place = {"host": request.lane.host, "workspace": request.lane.workspace}
    known = tx.connection.execute(_KNOWN, {"digest": new.digest, **place}).scalar()
    if known is not None:
        return Appended(known, 1, duplicate=True)
    (appended,) = intake.append(tx, request, bounds)
    return appended


def named(
    connection: Connection, conclusion_id: str, hosts: Sequence[str], workspace: str
) -> list[ConclusionRow]:
    """The conclusions with this id, be it ours or Honcho's."""
    rows = connection.execute(_NAMED, {"of_id": conclusion_id, "workspace": workspace, "hosts": list(hosts)})
    return [ConclusionRow(row.id, State(row.state), row.remote_id, _in_doubt(row)) for row in rows]


def latest(
    connection: Connection, peer: str, hosts: Sequence[str], workspace: str, limit: int
) -> list[WaitingRow]:
    """The conclusions about a peer that wait, the newest first."""
    asked = {"peer": peer, "workspace": workspace, "hosts": list(hosts), "rows": limit}
    return [waiting_row(row) for row in connection.execute(_LATEST, asked)]


def erase(tx: Tx, ids: Sequence[int]) -> Erased:
    """Drop conclusions, and the terms of them in the search index.

    What waits or is dead is discarded; what is over is deleted, so that the same may be concluded again. What
    is in doubt is left alone: nobody could say whether Honcho has it.
    """
    rows = tx.connection.execute(_ROWS, {"ids": list(ids)}).all()
    certain = [row for row in rows if not _in_doubt(row)]
    for row in certain:
        _erase(tx, row)
    search.purge(tx)
    waited = sum(State(row.state) not in TERMINAL for row in certain)
    return Erased(waited, len(rows) - len(certain))


def _erase(tx: Tx, row: Row[Any]) -> None:
    place, state = (row.host, row.workspace), State(row.state)
    if state in TERMINAL:
        tx.connection.execute(_DELETE, {"event_id": row.id})
        tx.ledger.move(place, state, None)
    else:
        check(state, State.DISCARDED)
        tx.connection.execute(_DISCARD, {"event_id": row.id, "now": tx.now_ms})
        tx.ledger.move(place, state, State.DISCARDED)
    if row.held:
        tx.ledger.hold(place, -row.size)
    if state is State.QUEUED:
        lanes.shrink(tx, row.lane_id, 1)
        tx.ledger.charge(row.uid, -1, -row.size)


def _in_doubt(row: Row[Any]) -> bool:
    if row.state != State.QUEUED:
        return False
    in_flight = row.lease_first is not None and row.lease_first <= row.id <= row.lease_last
    uncertain = bool(row.uncertain) and row.uncertain_first <= row.id <= row.uncertain_last
    return in_flight or uncertain

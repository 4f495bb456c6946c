"""Leasing lanes and settling them.

A lease is on a lane, so a session has one request in flight and its order for free. The batch's range is
recorded in the lane and committed before anything is sent: after a crash that makes the attempt visible as
uncertain. Every write under a lease says ``WHERE lease_id = :mine``; a worker whose lease was taken writes
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Row, bindparam, select, text, update

from honchod.errors import LeaseLost
from honchod.ids import uuid7
from honchod.outbox import batches, endings, lanes
from honchod.outbox.held import rest_due_in_ms
from honchod.outbox.schema import READY, SUSPECT, SUSPECT_AFTER, event, lane
from honchod.outbox.transaction import Tx
from honchod.outbox.values import (
    Bisect,
    LaneKey,
    Lease,
    LeasedEvent,
    LeaseTerms,
    NothingDue,
    Prepared,
    Settlement,
)

_READY: Final = text(READY)
_SUSPECT: Final = text(SUSPECT)
_LOOKABLE: Final = text("(look_at IS NULL OR look_at <= :now)")

DUE: Final = (
    select(lane.c.id, lane.c.due_at)
    .where(_READY, lane.c.host == bindparam("host"), lane.c.due_at <= bindparam("now"), _LOOKABLE)
    .order_by(lane.c.due_at)
    .limit(1)
)
"""The lane of a host that waited longest."""
DUE_SUSPECT: Final = (
    select(lane.c.id, lane.c.due_at)
    .where(_SUSPECT, lane.c.host == bindparam("host"), lane.c.due_at <= bindparam("now"), _LOOKABLE)
    .order_by(lane.c.due_at)
    .limit(1)
)
NEXT_DUE: Final = (
    select(lane.c.due_at)
    .where(_READY, lane.c.host == bindparam("host"), lane.c.due_at > bindparam("now"))
    .order_by(lane.c.due_at)
    .limit(1)
)
"""When the next lane of a host becomes due: later than now, or whoever waits for it would not wait."""
NEXT_SUSPECT: Final = (
    select(lane.c.due_at)
    .where(_SUSPECT, lane.c.host == bindparam("host"), lane.c.due_at > bindparam("now"))
    .order_by(lane.c.due_at)
    .limit(1)
)
_LANE: Final = select(lane).where(lane.c.id == bindparam("lane_id"))
_MINE: Final = select(lane).where(lane.c.id == bindparam("lane_id"), lane.c.lease_id == bindparam("mine"))
_HAS_WAITING: Final = (
    select(event.c.id)
    .where(
        text("event.state = 'queued'"),
        event.c.lane_id == bindparam("lane_id"),
        event.c.id <= bindparam("upto"),
    )
    .limit(1)
)
_WAITING_UPTO: Final = (
    select(event.c.id)
    .where(
        text("event.state = 'queued'"),
        event.c.lane_id == bindparam("lane_id"),
        event.c.id <= bindparam("upto"),
    )
    .order_by(event.c.id)
)
_LEASE: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"), lane.c.lease_id.is_(None))
    .values(
        {
            name: bindparam(name)
            for name in ("lease_id", "lease_until", "leased_at", "lease_first", "lease_last")
        }
    )
)
_RENEW: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"), lane.c.lease_id == bindparam("mine"))
    .values(lease_until=bindparam("until"), leased_at=bindparam("now"))
)
_CERTAIN: Final = {
    "uncertain": 0,
    "uncertain_first": None,
    "uncertain_last": None,
    "look_at": None,
    "charge": 0,
}
_UNBISECTED: Final = {"bisect_last": None, "bisect_limit": None}
_RELEASED: Final = {
    "lease_id": None,
    "lease_until": None,
    "leased_at": None,
    "lease_first": None,
    "lease_last": None,
}
_CLEAR_CERTAIN: Final = update(lane).where(lane.c.id == bindparam("lane_id")).values(_CERTAIN)
_CLEAR_BISECT: Final = update(lane).where(lane.c.id == bindparam("lane_id")).values(_UNBISECTED)
_SETTLED_FIELDS: Final = (
    "due_at",
    "failures",
    "last_error",
    "last_error_at",
    "delivered_at",
    "prepared",
    "uncertain",
    "uncertain_first",
    "uncertain_last",
    "look_at",
    "charge",
    "bisect_last",
    "bisect_limit",
    "losses",
    "order_gap",
)
_SETTLE: Final = (
    update(lane)
    .where(lane.c.id == bindparam("lane_id"), lane.c.lease_id == bindparam("mine"))
    .values({**{name: bindparam(name) for name in _SETTLED_FIELDS}, **_RELEASED})
)


def lease(tx: Tx, hosts: Sequence[str], terms: LeaseTerms, *, suspects: bool = False) -> Lease | NothingDue:
    """Take the lane of these hosts that has been due longest, and its next batch.

    With ``suspects``, only lanes under suspicion are looked at. Rows that are too old or cannot be read are
    dead-lettered on the way, so that they are in nobody's way.
    """
    while (lane_id := _choose(tx, hosts, suspects=suspects)) is not None:
        taken = _take(tx, lane_id, terms)
        if taken is not None:
            return taken
    return NothingDue(_next_due(tx, hosts, suspects=suspects))


def _choose(tx: Tx, hosts: Sequence[str], *, suspects: bool) -> int | None:
    statement = DUE_SUSPECT if suspects else DUE
    due = [
        row
        for host in hosts
        if (row := tx.connection.execute(statement, {"host": host, "now": tx.now_ms}).first()) is not None
    ]
    return min(due, key=lambda row: row.due_at).id if due else None


def _next_due(tx: Tx, hosts: Sequence[str], *, suspects: bool) -> int | None:
    statement = NEXT_SUSPECT if suspects else NEXT_DUE
    times = (tx.connection.execute(statement, {"host": host, "now": tx.now_ms}).scalar() for host in hosts)
    return min((due for due in times if due is not None), default=None)


def _take(tx: Tx, lane_id: int, terms: LeaseTerms) -> Lease | None:
    row = tx.connection.execute(_LANE, {"lane_id": lane_id}).one()
    suspect = row.losses >= SUSPECT_AFTER
    limit = 1 if suspect else terms.batch_max
    upto = (1 << 63) - 1
    uncertain = False
    bisect = None
    if row.uncertain:
        uncertain = _waits(tx, lane_id, row.uncertain_last)
        if uncertain:
            upto = row.uncertain_last
        else:
            tx.connection.execute(_CLEAR_CERTAIN, {"lane_id": lane_id})
    if row.bisect_last is not None:
        if _waits(tx, lane_id, row.bisect_last):
            bisect = Bisect(row.bisect_last, row.bisect_limit)
            upto, limit = min(upto, bisect.last), min(limit, bisect.limit)
        else:
            tx.connection.execute(_CLEAR_BISECT, {"lane_id": lane_id})
    events, died = batches.read(tx, lane_id, upto=upto, rows=limit, oldest_ms=tx.now_ms - terms.max_age_ms)
    if died:
        ended = endings.die(tx, (row.host, row.workspace), died)
        lanes.shrink(tx, lane_id, ended)
    if not events and not died:
        # The counter says that something waits and nothing does: put the lane out of the way.
        lanes.shrink(tx, lane_id, row.pending)
    batch = batches.fitting(events, terms)
    if not batch:
        return None
    return _record(tx, row, batch, terms, uncertain=uncertain, bisect=bisect, suspect=suspect)


def _record(
    tx: Tx,
    row: Row[Any],
    batch: tuple[LeasedEvent, ...],
    terms: LeaseTerms,
    *,
    uncertain: bool,
    bisect: Bisect | None,
    suspect: bool,
) -> Lease:
    lease_id, until = uuid7(), tx.now_ms + terms.lease_ms
    tx.connection.execute(
        _LEASE,
        {
            "lane_id": row.id,
            "lease_id": lease_id,
            "lease_until": until,
            "leased_at": tx.now_ms,
            "lease_first": batch[0].id,
            "lease_last": batch[-1].id,
        },
    )
    return Lease(
        id=lease_id,
        lane_id=row.id,
        lane=LaneKey(row.host, row.workspace, row.session),
        scope=row.scope,
        events=batch,
        failures=row.failures,
        prepared=_prepared(row.prepared),
        uncertain=uncertain,
        charge=uncertain and bool(row.charge),
        bisect=bisect,
        suspect=suspect,
        look_at_ms=row.look_at if uncertain else None,
        leased_at_ms=tx.now_ms,
        until_ms=until,
    )


def _waits(tx: Tx, lane_id: int, upto: int) -> bool:
    return tx.connection.execute(_HAS_WAITING, {"lane_id": lane_id, "upto": upto}).first() is not None


def _prepared(text_: str | None) -> Prepared | None:
    if text_ is None:
        return None
    try:
        return msgspec.json.decode(text_, type=Prepared)
    except msgspec.MsgspecError:
        return None


def renew(tx: Tx, held: Lease, lease_ms: int) -> int:
    """Hold a lease for longer; it counts as sent from now. Returns until when. Raises `LeaseLost`."""
    until = tx.now_ms + lease_ms
    mine = {"lane_id": held.lane_id, "mine": held.id, "until": until, "now": tx.now_ms}
    if tx.connection.execute(_RENEW, mine).rowcount != 1:
        raise LeaseLost(held.id)
    return until


def settle(tx: Tx, held: Lease, what: Settlement, *, keep_content: bool = True) -> int:
    """Write an outcome back and let go of the lane. Returns how many events are left in it.

    Raises `LeaseLost`, and then nothing was written.
    """
    row = tx.connection.execute(_MINE, {"lane_id": held.lane_id, "mine": held.id}).first()
    if row is None:
        raise LeaseLost(held.id)
    place = (held.lane.host, held.lane.workspace)
    delivered = endings.deliver(tx, place, what.delivered, keep_content=keep_content)
    ended = delivered + endings.die(tx, place, what.died)
    endings.record_attempts(tx, what.attempts, what.charged)
    left = row.pending - ended
    if ended:
        lanes.shrink(tx, held.lane_id, ended)
    failed = what.error is not None
    tx.connection.execute(
        _SETTLE,
        {
            "lane_id": held.lane_id,
            "mine": held.id,
            "due_at": tx.now_ms + rest_due_in_ms(tx, row, what.due_in_ms) if left > 0 else None,
            "failures": what.failures if what.outcome else row.failures,
            "last_error": what.error if what.outcome else row.last_error,
            "last_error_at": tx.now_ms if failed else row.last_error_at,
            "delivered_at": tx.now_ms if delivered else row.delivered_at,
            "prepared": None if what.prepared is None else msgspec.json.encode(what.prepared).decode(),
            **_certainty(row, what, _revived(tx, row, held) if row.uncertain and what.resolved else None),
            "bisect_last": what.bisect.last if what.bisect else None,
            "bisect_limit": what.bisect.limit if what.bisect else None,
            "losses": 0 if what.outcome else row.losses,
            "order_gap": int(what.order_gap or bool(row.order_gap)),
        },
    )
    return int(left)


def _revived(tx: Tx, row: Row[Any], held: Lease) -> int | None:
    """The first event that came back from the dead beside those in flight: nobody has looked for it yet."""
    waiting = tx.connection.execute(_WAITING_UPTO, {"lane_id": row.id, "upto": row.lease_last}).scalars()
    in_flight = {leased.id for leased in held.events}
    return next((event_id for event_id in waiting if event_id not in in_flight), None)


def _certainty(row: Row[Any], what: Settlement, revived: int | None) -> dict[str, int | None]:
    """What stays uncertain: what this lease's events left of the old range, and the new attempt."""
    rest = None
    if row.uncertain:
        first = max(row.uncertain_first, row.lease_last + 1) if what.resolved else row.uncertain_first
        if revived is not None:
            first = revived
        if first <= row.uncertain_last:
            rest = (first, row.uncertain_last, row.look_at, row.charge)
    new = what.uncertain
    if new is None:
        if rest is None:
            return dict(_CERTAIN)
        first, last, look_at, charge = rest
    elif rest is None:
        first, last, look_at, charge = new.first, new.last, new.look_at_ms, int(new.charge)
    else:
        first, last = min(rest[0], new.first), max(rest[1], new.last)
        look_at = max(rest[2] or 0, new.look_at_ms)
        charge = int(new.charge)
    return {
        "uncertain": 1,
        "uncertain_first": first,
        "uncertain_last": last,
        "look_at": look_at,
        "charge": charge,
    }

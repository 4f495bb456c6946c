"""Taking messages in: dedupe, bounds, rows. One request is all or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from sqlalchemy import bindparam, func, insert, select

from honchod.errors import IdConflict, OutboxFull, QuotaUsedUp
from honchod.ids import uuid7
from honchod.outbox import held, lanes, retention, tally
from honchod.outbox.compiled import Compiled
from honchod.outbox.schema import event
from honchod.outbox.states import State
from honchod.outbox.values import Append, Appended, Bounds, NewEvent
from honchod.outbox.writer import Tx

FULL_RETRY_S: Final = 5.0
ROW_OVERHEAD_BYTES: Final = 400
"""What a row costs beside its content: columns, and its places in the indexes."""

_asked = func.json_each(bindparam("ids")).table_valued("value")
_KNOWN: Final = select(event.c.message_id, event.c.digest, event.c.parts).where(
    event.c.lane_id == bindparam("lane_id"), event.c.message_id.in_(select(_asked.c.value))
)
"""Which of some ids (a JSON array) a lane knows."""
_FIND_KNOWN: Final = Compiled(_KNOWN)
_KNOWN_ONE: Final = select(event.c.message_id, event.c.digest, event.c.parts).where(
    event.c.lane_id == bindparam("lane_id"), event.c.message_id == bindparam("message_id")
)
"""The same for one id, as nearly every request asks."""
_FIND_KNOWN_ONE: Final = Compiled(_KNOWN_ONE)
_COLUMNS: Final = (
    "lane_id",
    "message_id",
    "part",
    "parts",
    "honchod_id",
    "kind",
    "peer",
    "role",
    "author",
    "content",
    "metadata",
    "created_at",
    "queued_at",
    "size",
    "digest",
    "state",
    "uid",
)
_NEW_EVENT: Final = Compiled(insert(event).values({name: bindparam(name) for name in _COLUMNS}))
_FIRST_PART: Final = select(event.c.id).where(
    event.c.lane_id == bindparam("lane_id"), event.c.message_id == bindparam("message_id"), event.c.part == 0
)


def append(tx: Tx, request: Append, bounds: Bounds) -> tuple[Appended, ...]:
    """Put a request's events into their lane.

    Raises `IdConflict` (an id is known with other content), `QuotaUsedUp` and `OutboxFull`; then nothing of
    the request is stored.
    """
    lane_id = lanes.lane_of(tx, request.lane, request.scope)
    results, fresh = _dedupe(tx, lane_id, request.events)
    rows = [row for new in fresh for row in _rows(tx, lane_id, new, request.uid)]
    if rows:
        size = sum(row["size"] for row in rows)
        _make_room(tx, request, bounds, len(rows), size)
        _NEW_EVENT.run_each(tx.driver, rows)
        _due(tx, lane_id, request, rows)
        place = (request.lane.host, request.lane.workspace)
        tx.ledger.move(place, None, State.QUEUED, rows=len(rows))
        tx.ledger.hold(place, size)
        tx.ledger.charge(request.uid, len(rows), size)
    return tuple(results)


def _due(tx: Tx, lane_id: int, request: Append, rows: list[dict[str, Any]]) -> None:
    """Make the lane due with its new events, or hold them until enough turns have ended."""
    if request.due_in_ms is not None:
        lanes.grow(tx, lane_id, len(rows), due_in_ms=request.due_in_ms)
        return
    place = {"lane_id": lane_id, "message_id": rows[0]["message_id"]}
    held.hold(tx, lane_id, len(rows), tx.connection.execute(_FIRST_PART, place).scalar_one())
    if request.turn_ends:
        held.turn_ended(tx, lane_id, request.every_turns)


def _dedupe(tx: Tx, lane_id: int, events: tuple[NewEvent, ...]) -> tuple[list[Appended], list[NewEvent]]:
    """What is new, and the answer for each message in the order of the request."""
    asked = [new.message_id for new in events if not new.fresh_id]
    known = {message_id: (digest, parts) for message_id, digest, parts in _known(tx, lane_id, asked)}
    results, fresh = [], []
    for new in events:
        digest, parts = known.get(new.message_id, (None, len(new.pieces)))
        if digest is not None and digest != new.digest:
            raise IdConflict(f"message id {new.message_id!r} is known in this session with other content")
        if digest is None:
            fresh.append(new)
            known[new.message_id] = (new.digest, len(new.pieces))
        results.append(Appended(new.message_id, parts, duplicate=digest is not None))
    return results, fresh


def _known(tx: Tx, lane_id: int, asked: list[str]) -> Iterable[tuple[str, bytes, int]]:
    match asked:
        case []:
            return ()
        case [one]:
            return _FIND_KNOWN_ONE.run(tx.driver, {"lane_id": lane_id, "message_id": one})
    ids = msgspec.json.encode(asked).decode()
    return _FIND_KNOWN.run(tx.driver, {"lane_id": lane_id, "ids": ids})


def _rows(tx: Tx, lane_id: int, new: NewEvent, uid: int) -> list[dict[str, Any]]:
    return [
        {
            "lane_id": lane_id,
            "message_id": new.message_id,
            "part": part,
            "parts": len(new.pieces),
            "honchod_id": uuid7(),
            "kind": new.kind.value,
            "peer": new.peer,
            "role": new.role,
            "author": new.author,
            "content": piece,
            "metadata": new.metadata,
            "created_at": new.created_at_ms,
            "queued_at": tx.now_ms,
            "size": len(piece.encode()) + len(new.metadata or ""),
            "digest": new.digest,
            "state": State.QUEUED.value,
            "uid": uid,
        }
        for part, piece in enumerate(new.pieces)
    ]


def _make_room(tx: Tx, request: Append, bounds: Bounds, rows: int, size: int) -> None:
    """Refuse, or prune terminal rows until the request fits."""
    if request.limited:
        held_rows, held_bytes = tally.share_of(tx.driver, request.uid)
        before = tx.group.ledger.share.get(request.uid)
        if before is not None:
            held_rows, held_bytes = held_rows + before["rows"], held_bytes + before["bytes"]
        if (
            held_rows + rows > bounds.quota_share * bounds.max_rows
            or held_bytes + size > bounds.quota_share * bounds.max_bytes
        ):
            raise QuotaUsedUp(
                f"uid {request.uid} has {held_rows} undelivered messages, its share of the queue",
                retry_after_s=FULL_RETRY_S,
            )
    needed = size + rows * ROW_OVERHEAD_BYTES
    over_rows, over_bytes = retention.over(tx, bounds, rows=rows, size=needed)
    if over_rows > 0 or over_bytes > 0:
        freed = retention.prune(tx, rows=over_rows, size=over_bytes)
        if not freed:
            raise OutboxFull(
                "the outbox has reached its bound of rows or bytes: nothing was stored",
                retry_after_s=FULL_RETRY_S,
            )
    tx.ledger.room += needed

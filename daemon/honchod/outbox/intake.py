"""Taking messages in: dedupe, bounds, rows. One request is all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import bindparam, select

from honchod.errors import IdConflict, OutboxFull, QuotaUsedUp
from honchod.ids import uuid7
from honchod.outbox import held, lanes, retention
from honchod.outbox.compiled import IDS, Compiled, ManyRows
from honchod.outbox.lanes import LaneIds
from honchod.outbox.schema import event
from honchod.outbox.states import State
from honchod.outbox.transaction import Tx
from honchod.outbox.values import Append, Appended, Bounds, NewEvent

FULL_RETRY_S: Final = 5.0
ROW_OVERHEAD_BYTES: Final = 400
"""What a row costs beside its content: columns, and its places in the indexes."""

_KNOWN: Final = select(event.c.message_id, event.c.digest, event.c.parts).where(
    event.c.lane_id == bindparam("lane_id"), event.c.message_id.in_(IDS)
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
"""What intake fills in of a row of ``event``."""
_QUEUED: Final = State.QUEUED.value
_NOTHING: Final = (0, 0)
_NEW_EVENTS: Final = ManyRows(event, _COLUMNS)
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
    values: list[Any] = []
    rows, size = _fill(values, lane_id, fresh, request.uid, tx.now_ms)
    if rows:
        if request.limited:
            _check_share(tx, request.uid, bounds, rows, size)
        _make_room(tx, bounds, rows, size)
        _NEW_EVENTS.run(tx.driver, values)
        _due(tx, lane_id, request, fresh[0].message_id, rows)
        tx.ledger.take_in((request.lane.host, request.lane.workspace), request.uid, rows, size)
    return tuple(results)


def append_together(
    tx: Tx, requests: Sequence[Append], bounds: Bounds, lane_ids: LaneIds
) -> list[tuple[Appended, ...]]:
    """Put several requests into their lanes, all due now, in the few statements that usually do: none of
    their messages is known yet, and there is room for all.

    Raises where that is not so for any of them, whatever it is; `append` then finds out for each.
    """
    crowd = _Crowd(tx, requests, [lane_ids.of(tx, one.lane, one.scope) for one in requests])
    _make_room(tx, bounds, crowd.rows, crowd.size)
    crowd.count(bounds)
    _NEW_EVENTS.run(tx.driver, crowd.values)
    lanes.grow_all(tx, crowd.waiting)
    return crowd.answers


def append_at_once(
    tx: Tx, requests: Sequence[Append], bounds: Bounds, lane_ids: LaneIds
) -> list[tuple[Appended, ...]] | None:
    """As `append_together`, as one transaction of its own that stores the events and nothing else: that they
    wait is left to be counted. None, and nothing stored, where a lane is not known or room must be made.
    """
    known = [lane_ids.known(one.lane, one.scope) for one in requests]
    ids = [lane_id for lane_id in known if lane_id is not None]
    if len(ids) < len(requests):
        return None
    crowd = _Crowd(tx, requests, ids)
    if max(retention.over(tx, bounds, rows=crowd.rows, size=crowd.needed)) > 0:
        return None
    tx.ledger.room += crowd.needed
    crowd.count(bounds)
    for lane_id, rows in crowd.waiting.items():
        tx.ledger.grow(lane_id, rows)
    _NEW_EVENTS.run_alone(tx.driver, crowd.values)
    return crowd.answers


class _Crowd:
    """Requests that are taken in together, none of whose messages is known yet.

    A message that is known breaks the uniqueness of lane, id and part when ``values`` are stored.
    """

    def __init__(self, tx: Tx, requests: Sequence[Append], lane_ids: Sequence[int]) -> None:
        self._tx = tx
        self._requests = requests
        self._taken: dict[tuple[str, str, int, bool], tuple[int, int]] = {}
        self.values: list[Any] = []
        """Of all rows of ``event``, in the order of `_COLUMNS`."""
        self.waiting: dict[int, int] = {}
        """How many rows there are for each lane."""
        self.rows = self.size = 0
        for request, lane_id in zip(requests, lane_ids, strict=True):
            key, uid = request.lane, request.uid
            rows, size = _fill(self.values, lane_id, request.events, uid, tx.now_ms)
            self.rows += rows
            self.size += size
            self.waiting[lane_id] = self.waiting.get(lane_id, 0) + rows
            whose = (key.host, key.workspace, uid, request.limited)
            had_rows, had_size = self._taken.get(whose, _NOTHING)
            self._taken[whose] = had_rows + rows, had_size + size

    @property
    def needed(self) -> int:
        """What the rows may take of the database, in bytes."""
        return _needed(self.rows, self.size)

    def count(self, bounds: Bounds) -> None:
        """Note what is taken in. Raises `QuotaUsedUp` where it is more than a uid's share."""
        for (host, workspace, uid, _), (rows, size) in self._taken.items():
            self._tx.ledger.take_in((host, workspace), uid, rows, size)
        for _, _, uid, limited in self._taken:
            if limited:
                _check_share(self._tx, uid, bounds, 0, 0)

    @property
    def answers(self) -> list[tuple[Appended, ...]]:
        """What each of the requests is told."""
        return [
            tuple([Appended(new.message_id, len(new.pieces), duplicate=False) for new in request.events])
            for request in self._requests
        ]


def _due(tx: Tx, lane_id: int, request: Append, first_id: str, rows: int) -> None:
    """Make the lane due with its new events, or hold them until enough turns have ended."""
    if request.due_in_ms is not None:
        lanes.grow(tx, lane_id, rows, due_in_ms=request.due_in_ms)
        return
    place = {"lane_id": lane_id, "message_id": first_id}
    held.hold(tx, lane_id, rows, tx.connection.execute(_FIRST_PART, place).scalar_one())
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


def _fill(
    values: list[Any], lane_id: int, events: Iterable[NewEvent], uid: int, now_ms: int
) -> tuple[int, int]:
    """Add the values of these events' rows, one row for each of their pieces. Returns how many, and their
    size in bytes.
    """
    rows = size = 0
    for new in events:
        pieces, metadata = new.pieces, new.metadata
        parts = len(pieces)
        metadata_size = len(metadata) if metadata else 0
        rows += parts
        for part, piece in enumerate(pieces):
            row_size = metadata_size + (len(piece) if piece.isascii() else len(piece.encode()))
            size += row_size
            values += (
                lane_id,
                new.message_id,
                part,
                parts,
                uuid7(),
                new.kind._value_,
                new.peer,
                new.role,
                new.author,
                piece,
                metadata,
                new.created_at_ms,
                now_ms,
                row_size,
                new.digest,
                _QUEUED,
                uid,
            )
    return rows, size


def _check_share(tx: Tx, uid: int, bounds: Bounds, rows: int, size: int) -> None:
    """Refuse what goes beyond a uid's share of the queue."""
    held_rows, held_bytes = tx.standing.share_of(uid, tx.ledger)
    if (
        held_rows + rows > bounds.quota_share * bounds.max_rows
        or held_bytes + size > bounds.quota_share * bounds.max_bytes
    ):
        raise QuotaUsedUp(
            f"uid {uid} has {held_rows} undelivered messages, its share of the queue",
            retry_after_s=FULL_RETRY_S,
        )


def _needed(rows: int, size: int) -> int:
    return size + rows * ROW_OVERHEAD_BYTES


def _make_room(tx: Tx, bounds: Bounds, rows: int, size: int) -> None:
    """Prune terminal rows until so much more fits, or refuse it."""
    needed = _needed(rows, size)
    over_rows, over_bytes = retention.over(tx, bounds, rows=rows, size=needed)
    if over_rows > 0 or over_bytes > 0:
        freed = retention.prune(tx, rows=over_rows, size=over_bytes)
        if not freed:
            raise OutboxFull(
                "the outbox has reached its bound of rows or bytes: nothing was stored",
                retry_after_s=FULL_RETRY_S,
            )
    tx.ledger.room += needed

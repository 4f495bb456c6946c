"""What is sent together: the oldest events of a lane, read, and as many of them as fit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import bindparam, func, select, text
from sqlalchemy.exc import OperationalError

from honchod.outbox.compiled import Compiled
from honchod.outbox.schema import event
from honchod.outbox.sqlite_errors import is_bad_text
from honchod.outbox.transaction import Tx
from honchod.outbox.values import Died, Kind, LeasedEvent, LeaseTerms


class _Row(msgspec.Struct, array_like=True, frozen=True):
    """A row of ``event``, as far as it is sent: its columns, in this order."""

    id: int
    honchod_id: str
    message_id: str
    part: int
    parts: int
    kind: str
    peer: str
    role: str
    content: str | None
    metadata: str | None
    created_at: int
    queued_at: int
    attempts: int
    size: int


_COLUMNS: Final = tuple(event.c[name] for name in _Row.__struct_fields__)
BATCH: Final = (
    select(*_COLUMNS)
    .where(
        text("event.state = 'queued'"),
        event.c.lane_id == bindparam("lane_id"),
        event.c.id <= bindparam("upto"),
    )
    .order_by(event.c.id)
    .limit(bindparam("rows"))
)
"""The oldest waiting events of a lane."""
_found = BATCH.subquery()
AT_ONCE: Final = select(func.json_group_array(func.json_array(*_found.c)))
"""The same in one row: each row of an answer is a step, after which the driver needs the interpreter's lock
back, and waits for it while another thread computes.
"""
_READ: Final = Compiled(AT_ONCE)
_IDS: Final = BATCH.with_only_columns(event.c.id)
_ONE: Final = select(*_COLUMNS).where(event.c.id == bindparam("event_id"))
_decode = msgspec.json.Decoder(list[_Row]).decode


def read(
    tx: Tx, lane_id: int, *, upto: int, rows: int, oldest_ms: int
) -> tuple[list[LeasedEvent], list[Died]]:
    """The oldest events that wait in a lane, up to an id and a number, and those of them that can no longer
    be sent: older than ``oldest_ms``, or not readable.
    """
    asked = {"lane_id": lane_id, "upto": upto, "rows": rows}
    try:
        (found,) = _READ.run(tx.driver, asked).fetchone()
        read_rows = sorted(_decode(found), key=lambda row: row.id)
    except sqlite3.OperationalError as error:
        if not is_bad_text(error):
            raise
        return _read_one_by_one(tx, asked, oldest_ms)
    return _judged(read_rows, oldest_ms)


def _read_one_by_one(tx: Tx, asked: dict[str, int], oldest_ms: int) -> tuple[list[LeasedEvent], list[Died]]:
    """One of them holds text that is no text: the others are none the worse for it."""
    found, died = [], []
    for event_id in tx.connection.execute(_IDS, asked).scalars().all():
        try:
            found.append(_Row(*tx.connection.execute(_ONE, {"event_id": event_id}).one()))
        except OperationalError as error:
            if not is_bad_text(error):
                raise
            died.append(Died(event_id, "unreadable"))
    events, died_too = _judged(found, oldest_ms)
    return events, died + died_too


def _judged(rows: Iterable[_Row], oldest_ms: int) -> tuple[list[LeasedEvent], list[Died]]:
    events, died = [], []
    for row in rows:
        if row.queued_at < oldest_ms:
            died.append(Died(row.id, "expired"))
            continue
        try:
            events.append(_event(row))
        except (msgspec.MsgspecError, ValueError, TypeError):
            died.append(Died(row.id, "unreadable"))
    return events, died


def _event(row: _Row) -> LeasedEvent:
    if row.content is None:
        raise ValueError("no content")
    metadata = msgspec.json.decode(row.metadata, type=dict[str, Any]) if row.metadata else {}
    return LeasedEvent(
        id=row.id,
        honchod_id=row.honchod_id,
        message_id=row.message_id,
        part=row.part,
        parts=row.parts,
        kind=Kind(row.kind),
        peer=row.peer,
        role=row.role,
        content=row.content,
        metadata=metadata,
        created_at_ms=row.created_at,
        attempts=row.attempts,
        size=row.size,
    )


def fitting(events: Sequence[LeasedEvent], terms: LeaseTerms) -> tuple[LeasedEvent, ...]:
    """The longest beginning of one kind within the byte bound; at least one event."""
    batch: list[LeasedEvent] = []
    size = 0
    for leased in events:
        if batch and (leased.kind is not batch[0].kind or size + leased.size > terms.batch_bytes):
            break
        if batch and leased.kind is not Kind.MESSAGE:
            break
        batch.append(leased)
        size += leased.size
    return tuple(batch)

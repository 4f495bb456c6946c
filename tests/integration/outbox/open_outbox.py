"""A real outbox in a directory of its own, with a clock that is set by hand."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.engine import Connection

from honchod.outbox import database
from honchod.outbox.store import Outbox
from honchod.outbox.transaction import Operation
from honchod.outbox.values import (
    Append,
    Appended,
    Bounds,
    Delivered,
    Died,
    Kind,
    LaneKey,
    Lease,
    LeaseTerms,
    NewEvent,
    NothingDue,
    Settlement,
    Uncertain,
)
from support import disk

T = TypeVar("T")
START_MS = 1_780_000_000_000
SETTLE_DELAY_MS = 15_000
DAY_MS = 86_400_000
TERMS = LeaseTerms()
SMALL = Bounds(max_rows=10_000, max_bytes=64 << 20)


class HandClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.wall_ms = START_MS

    def now_ms(self) -> int:
        return self.wall_ms

    def monotonic_s(self) -> float:
        return 0.0

    def pass_ms(self, ms: int) -> None:
        self.wall_ms += ms


def said(
    content: str,
    message_id: str | None = None,
    *,
    pieces: Sequence[str] = (),
    kind: Kind = Kind.MESSAGE,
    metadata: str | None = None,
    fresh: bool = False,
) -> NewEvent:
    return NewEvent(
        message_id=message_id or f"id of {content}",
        pieces=tuple(pieces) or (content,),
        peer="al",
        role="user",
        author="human",
        created_at_ms=START_MS,
        digest=hashlib.sha256(content.encode()).digest(),
        metadata=metadata,
        kind=kind,
        fresh_id=fresh,
    )


def request(session: str, *events: NewEvent, host: str = "h", uid: int = 1000, **more: Any) -> Append:
    return Append(LaneKey(host, "w", session), events, uid, **more)


class Box:
    """An outbox with its loop. Calling it runs an awaitable to its end."""

    def __init__(self, directory: Path, *, bounds: Bounds = SMALL, clock: HandClock | None = None) -> None:
        self.directory = directory
        self.clock = clock or HandClock()
        self.bounds = bounds
        self.loop = asyncio.new_event_loop()
        self.outbox = Outbox.open(directory, bounds=bounds, clock=self.clock)
        self._left_behind: list[Outbox] = []
        self._reader: Connection | None = None

    def __call__(self, awaitable: Awaitable[T]) -> T:
        async def wait() -> T:
            return await awaitable

        return self.loop.run_until_complete(wait())

    @property
    def path(self) -> Path:
        return self.directory / database.FILE_NAME

    def write(self, session: str, *contents: str, **more: Any) -> tuple[Appended, ...]:
        return self(self.outbox.append(request(session, *(said(one) for one in contents), **more)))

    def at_once(self, requests: Sequence[Append]) -> list[Any]:
        """Append all of them from tasks of their own. Returns answers and exceptions."""

        async def gather() -> list[Any]:
            writes = (self.outbox.append(one) for one in requests)
            return await asyncio.gather(*writes, return_exceptions=True)

        return self(gather())

    def lease(self, *hosts: str, terms: LeaseTerms = TERMS, suspects: bool = False) -> Lease:
        leased = self.try_lease(*hosts, terms=terms, suspects=suspects)
        assert isinstance(leased, Lease), leased
        return leased

    def try_lease(self, *hosts: str, terms: LeaseTerms = TERMS, suspects: bool = False) -> Lease | NothingDue:
        return self(self.outbox.lease(hosts or ("h",), terms, suspects=suspects))

    def settle(self, lease: Lease, **what: Any) -> int:
        return self(self.outbox.settle(lease, Settlement(**{"due_in_ms": 0, **what})))

    def deliver(self, lease: Lease, **what: Any) -> int:
        delivered = tuple(Delivered(event.id, f"remote-{event.id}") for event in lease.events)
        return self.settle(lease, delivered=delivered, **what)

    def doubt(
        self, lease: Lease, *, charge: bool = False, look_in_ms: int = SETTLE_DELAY_MS, **more: Any
    ) -> int:
        """Settle with an unknown outcome of all of its events."""
        first, last = lease.events[0].id, lease.events[-1].id
        unknown = Uncertain(first, last, self.clock.wall_ms + look_in_ms, charge)
        return self.settle(lease, **{"uncertain": unknown, "due_in_ms": look_in_ms, "error": "cut", **more})

    def bury(self, session: str, *contents: str, code: str = "rejected_422") -> list[int]:
        """Write messages and make dead letters of them."""
        self.write(session, *contents)
        lease = self.lease()
        ids = [event.id for event in lease.events]
        self.settle(lease, died=tuple(Died(event_id, code) for event_id in ids))
        return ids

    def bury_in_front(self, lease: Lease) -> None:
        """Make a dead letter of the first event of a lease; the others wait on."""
        self.settle(lease, died=(Died(lease.events[0].id, "rejected_422"),))

    def lease_and_return(self) -> Lease:
        """Take a lease and hand it back untouched."""
        lease = self.lease()
        self.settle(lease, outcome=False, resolved=False)
        return lease

    def recover(self, *, died: bool = True) -> Any:
        return self(self.outbox.recover(settle_delay_ms=SETTLE_DELAY_MS, died=died))

    def maintain(self, *, alive: Sequence[str] = ()) -> None:
        """A round of housekeeping, as the worker does it."""
        delay_ms = SETTLE_DELAY_MS
        self(
            self.outbox.maintain(max_age_ms=14 * DAY_MS, longest_wait_ms=3_615_000, settle_delay_ms=delay_ms)
        )
        self(self.outbox.recover(settle_delay_ms=delay_ms, died=False, alive=alive))

    def run_in_writer(self, operation: Operation[T]) -> T:
        return self(self.outbox._write(operation))

    def count(self) -> None:
        """Have what was taken in counted, as every operation but taking in does."""
        self.run_in_writer(lambda _: None)

    def rows(self, sql: str, *values: Any) -> list[Any]:
        if self._reader is None:
            self._reader = database.open_reader(self.path)
        return list(self._reader.exec_driver_sql(sql, values))

    def value(self, sql: str, *values: Any) -> Any:
        return self.rows(sql, *values)[0][0]

    def contents(self, session: str) -> list[tuple[str, str | None]]:
        return [
            tuple(row)
            for row in self.rows(
                "SELECT state, content FROM event JOIN lane ON lane.id = lane_id WHERE session = ? "
                "ORDER BY event.id",
                session,
            )
        ]

    def lane(self, session: str) -> Any:
        return self.rows("SELECT * FROM lane WHERE session = ?", session)[0]

    def crash(self) -> None:
        """Open what a killed process would leave on the disk, and let the old one be."""
        self._left_behind.append(self.outbox)
        self.close_reader()
        after = self.directory.with_name(f"after crash {len(self._left_behind)}")
        self.directory = disk.copy_of(self.path, after)
        self.outbox = Outbox.open(self.directory, bounds=self.bounds, clock=self.clock)

    def reopen(self, bounds: Bounds | None = None) -> None:
        self.close_reader()
        self(self.outbox.close())
        self.bounds = bounds or self.bounds
        self.outbox = Outbox.open(self.directory, bounds=self.bounds, clock=self.clock)

    def close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def close(self) -> None:
        self.close_reader()
        for outbox in (*self._left_behind, self.outbox):
            self(outbox.close())
        self.loop.close()

"""What recall keeps in the database: its cache and the turns. Read at start, written in batches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from sqlalchemy.engine import Connection

from honchod.outbox import cache, turns
from honchod.outbox.cache import CacheKey, CacheRow
from honchod.outbox.transaction import Operation
from honchod.outbox.turns import TurnRow
from honchod.outbox.values import LaneKey

T = TypeVar("T")


class Writes(Protocol):
    """Runs an operation in the writer thread; on disk when it returns."""

    def __call__(self, operation: Operation[T], /) -> Awaitable[T]: ...  # noqa: D102


class Reads(Protocol):
    """Runs a look on a connection that cannot write, in a thread of its own."""

    def __call__(self, look: Callable[[Connection], T], /) -> Awaitable[T]: ...  # noqa: D102


class RecallStore:
    """Awaitable, no SQL: the part of the outbox that belongs to recall."""

    def __init__(self, write: Writes, read: Reads) -> None:
        self._write = write
        self._read = read

    async def answers(self, limit: int) -> list[CacheRow]:
        """The answers that were used last, at most so many, the latest first."""
        return await self._read(lambda reader: cache.load(reader, limit))

    async def save_answers(self, rows: Sequence[CacheRow], removed: Sequence[CacheKey]) -> None:
        """Keep and forget answers, in one transaction."""
        await self._write(lambda tx: cache.save(tx, rows, removed))

    async def clear_answers(self) -> int:
        """Forget every answer. Returns how many there were."""
        return await self._write(cache.clear)

    async def turns(self, limit: int) -> list[TurnRow]:
        """The turns of the sessions in which something happened last, at most so many."""
        return await self._read(lambda reader: turns.load(reader, limit))

    async def turns_of(self, lane: LaneKey) -> TurnRow:
        """One session's turns; none have ended in a session that nobody knows."""
        return await self._read(lambda reader: turns.one(reader, lane))

    async def save_turns(self, rows: Sequence[TurnRow]) -> None:
        """Keep the turns of these sessions."""
        await self._write(lambda tx: turns.save(tx, rows))

    async def underived(self) -> dict[str, int]:
        """Messages that are with Honcho and not known to be derived, by host."""
        return await self._read(turns.underived)

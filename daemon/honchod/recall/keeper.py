"""Keeps cache and turns on disk, in batches: a recall never pays for a commit."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from honchod.outbox.recall_store import RecallStore
from honchod.recall import turns
from honchod.recall.cache import Cache
from honchod.recall.turns import Turns

log = structlog.get_logger("honchod.recall")

FLUSH_S: Final = 2.0
"""What a killed daemon may forget: answers can be fetched again, and no message is among them."""


class Keeper:
    """Writes what changed, at most `FLUSH_S` later. `load` first, `close` last."""

    def __init__(self, store: RecallStore, cache: Cache, counted: Turns) -> None:
        self._store = store
        self._cache = cache
        self._turns = counted
        self._loop: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        cache.on_change = counted.on_change = self._changed.set

    async def load(self) -> None:
        """Fill cache and turns with what was kept, and begin to keep."""
        self._cache.fill(await self._store.answers(self._cache.max_entries))
        self._turns.fill(await self._store.turns(turns.KEPT), await self._store.underived())
        # What could not be read, or is too much, goes from the disk too.
        self._changed.set()
        self._loop = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Write everything that is still to be written."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        await self._flush(used_too=True)

    async def flush(self) -> None:
        """Write what changed now."""
        await self._flush(used_too=False)

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            await asyncio.sleep(FLUSH_S)
            self._changed.clear()
            await self._flush(used_too=False)

    async def _flush(self, *, used_too: bool) -> None:
        rows, removed = self._cache.take_changes(used_too=used_too)
        counted = self._turns.take_changes()
        try:
            if rows or removed:
                await self._store.save_answers(rows, removed)
            if counted:
                await self._store.save_turns(counted)
        except Exception as error:
            # A full disk: memory goes on, and what changes next is tried again.
            log.error("recall.not_kept", error=type(error).__name__)

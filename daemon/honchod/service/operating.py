"""What an operator asks of the running daemon: letters, the worker, probes, backups."""

from __future__ import annotations

import asyncio
import contextlib

import structlog

from honchod.clock import Clock
from honchod.delivery.worker import Worker
from honchod.gateway.pool import GatewayPool
from honchod.ops import checks, letters
from honchod.ops.backups import Backups
from honchod.ops.views import (
    Acknowledged,
    BackupMade,
    Checks,
    Discarded,
    Drained,
    LetterDetail,
    LetterPage,
    LetterSelection,
    Retried,
    WorkerState,
)
from honchod.outbox.store import Outbox
from honchod.service.settings import Settings

log = structlog.get_logger("honchod.service")


class Operating:
    """The operator's part of the backend; whoever puts the rooms together sets what it works with."""

    _outbox: Outbox
    _worker: Worker
    _pool: GatewayPool
    _backups: Backups
    _settings: Settings
    _clock: Clock
    _started_s: float
    _started_ms: int

    async def letters(
        self, *, session: str | None, code: str | None, limit: int, cursor: str | None
    ) -> LetterPage:
        """A page of dead letters."""
        return await letters.page(self._outbox, session=session, code=code, limit=limit, cursor=cursor)

    async def letter(self, letter_id: str, *, content: bool) -> LetterDetail:
        """One dead letter with its attempts."""
        return await letters.show(self._outbox, letter_id, content=content)

    async def retry_letters(self, selection: LetterSelection) -> Retried:
        """Put dead letters back into the queue, and probe closed-off destinations."""
        retried, hosts = await letters.retry(self._outbox, selection)
        if hosts:
            await self._worker.wake(tuple(hosts))
        log.info("letters.retried", letters=retried.retried)
        return retried

    async def discard_letters(self, ids: list[str]) -> Discarded:
        """Discard dead letters for good."""
        discarded = await letters.discard(self._outbox, ids)
        log.info("letters.discarded", letters=discarded)
        return Discarded(discarded)

    async def acknowledge(self) -> Acknowledged:
        """Take the notices as read: status shows them no more."""
        acknowledged = await self._outbox.acknowledge()
        log.info("notices.acknowledged", notices=acknowledged)
        return Acknowledged(acknowledged)

    async def wake(self) -> WorkerState:
        """Make everything that waits due now."""
        await self._worker.wake()
        return await self._worker_state()

    async def pause(self) -> WorkerState:
        """Stop delivering until resumed; intake goes on."""
        self._worker.pause()
        log.info("worker.paused")
        return await self._worker_state()

    async def resume(self) -> WorkerState:
        """Deliver again."""
        self._worker.resume()
        log.info("worker.resumed")
        return await self._worker_state()

    async def drain(self, timeout_s: float) -> Drained:
        """Try everything that waits, and wait for the queue to become empty, at most that long."""
        await self._worker.wake()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while await self._pending():
                    await self._worker.settled()
        remaining = await self._pending()
        return Drained(remaining == 0, remaining)

    async def checks(self) -> Checks:
        """Probe what the daemon depends on."""
        elapsed_ms = (self._clock.monotonic_s() - self._started_s) * 1000
        drift_s = (self._clock.now_ms() - self._started_ms - elapsed_ms) / 1000
        return await checks.run(
            self._worker.routes, self._pool, self._settings.state_dir, self._clock, drift_s=drift_s
        )

    async def backup(self, path: str) -> BackupMade:
        """Copy the queue to a file that is not there yet, and verify the copy."""
        return await self._backups.make(path)

    async def _pending(self) -> int:
        return (await self._outbox.overview()).counts.queued

    async def _worker_state(self) -> WorkerState:
        return WorkerState(self._worker.paused, await self._pending())

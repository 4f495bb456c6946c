"""Backups of the running queue: one at a time, with their progress."""

from __future__ import annotations

import time
from pathlib import Path

import structlog

from honchod.clock import Clock, rfc3339
from honchod.errors import BackupRefused, BadRequest, Busy, Draining
from honchod.ops.views import BackupMade, BackupProgress
from honchod.outbox.database import FILE_NAME
from honchod.outbox.store import Outbox

log = structlog.get_logger("honchod.ops")

RETRY_S = 5.0


class Backups:
    """Makes backups until it is closed. ``progress`` is None while none is under way."""

    def __init__(self, outbox: Outbox, state_dir: Path, clock: Clock) -> None:
        self._outbox = outbox
        self._state_dir = state_dir
        self._clock = clock
        self._closed = False
        self.progress: BackupProgress | None = None

    async def make(self, path: str) -> BackupMade:
        """Copy the queue, as it is at one instant, to a file that is not there yet, and verify the copy.

        Raises `BadRequest` for a path that is not absolute, `Busy` while another backup is made, `Draining`
        when the daemon stops meanwhile, and `BackupRefused`; then there is no file.
        """
        target = Path(path)
        if not target.is_absolute() or "\0" in path:
            raise BadRequest("path: expected an absolute path")
        if target.parent == self._state_dir and target.name.startswith(FILE_NAME):
            raise BackupRefused(f"{target}: names that begin with {FILE_NAME} are the queue's own")
        if self.progress is not None:
            raise Busy("another backup is under way", retry_after_s=RETRY_S)
        self.progress = BackupProgress(0, 0)
        started_s, taken_at_ms = time.monotonic(), self._clock.now_ms()
        try:
            copied = await self._outbox.backup(target, self._tell)
        finally:
            self.progress = None
        made = BackupMade(
            path=str(copied.path),
            bytes=copied.size_bytes,
            events=copied.counts.rows,
            pending=copied.counts.queued,
            dead=copied.counts.dead,
            taken_at=rfc3339(taken_at_ms),
            ms=int((time.monotonic() - started_s) * 1000),
        )
        log.info("backup.made", bytes=made.bytes, events=made.events, pending=made.pending, ms=made.ms)
        return made

    def close(self) -> None:
        """End what is under way: the daemon stops."""
        self._closed = True

    def _tell(self, done: int, total: int) -> None:
        if self._closed:
            raise Draining("the daemon is stopping: no backup was made", retry_after_s=RETRY_S)
        self.progress = BackupProgress(done, total)

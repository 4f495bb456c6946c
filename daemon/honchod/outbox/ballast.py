"""A file of no use but its room: given up when the disk is full, so that the queue can still be delivered.

While it is not there nothing new is taken in. It is made again once there is room, and intake resumes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import structlog

log = structlog.get_logger("honchod.outbox")

LARGEST_BYTES: Final = 24 << 20
"""Enough to fold a WAL of the usual bound into the database, and to settle many batches."""
SMALLEST_BYTES: Final = 1 << 20
SHARE: Final = 16
"""This part of what the outbox may hold."""
MARGIN: Final = 3
"""This part of the ballast must stay free beside it: a disk that is nearly full would be full at once."""


def path_of(database: Path) -> Path:
    """Where the ballast of a database is."""
    return database.with_name(f"{database.name}-ballast")


class Ballast:
    """The ballast of one database, beside it. Not thread-safe: it is the writer's."""

    def __init__(self, database: Path, *, max_bytes: int) -> None:
        """``max_bytes`` is what the outbox may hold."""
        self._path = path_of(database)
        self._size_bytes = min(LARGEST_BYTES, max(SMALLEST_BYTES, max_bytes // SHARE))
        self._spent = False
        self.held = False

    def hold(self) -> bool:
        """Have the ballast, or make it if there is room. Returns whether it is there."""
        if not self.held:
            self.held = self._is_there() or self._make()
            if self.held and self._spent:
                self._spent = False
                log.info("disk.room_again")
        return self.held

    def give_up(self) -> bool:
        """Free its room. Returns whether there was any to free."""
        if not self._is_there():
            return False
        self._path.unlink()
        self.held = False
        self._spent = True
        log.error("disk.full", ballast_bytes=self._size_bytes)
        return True

    def _is_there(self) -> bool:
        try:
            return self._path.stat().st_size == self._size_bytes
        except OSError:
            return False

    def _make(self) -> bool:
        found = os.statvfs(self._path.parent)
        if found.f_bavail * found.f_frsize < self._size_bytes + self._size_bytes // MARGIN:
            return False
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(fd, 0, self._size_bytes)
                os.ftruncate(fd, self._size_bytes)
            finally:
                os.close(fd)
        except OSError:
            # Somebody else was quicker, or there is no inode left: a part of it is of no use.
            self._path.unlink(missing_ok=True)
            return False
        return True

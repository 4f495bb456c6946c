"""The write-ahead log of the database: how large it is, and when it is folded into the database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

WAL_LIMIT_BYTES: Final = 16 << 20
WAL_STEP_BYTES: Final = 4 << 20

log = structlog.get_logger("honchod.outbox")


class Wal:
    """The log of the writing connection, which makes every checkpoint. The writer's alone, but for `size`."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection = connection
        self._path = os.fspath(path)
        self._bound = WAL_LIMIT_BYTES
        self.dirty = False
        """Whether something was written since it was last emptied."""
        self.left_bytes = 0
        """Its size when the writer last had something to do with it."""

    def size(self) -> int:
        """The size of its file (by stat: opening it would drop SQLite's locks)."""
        try:
            return os.stat(self._path).st_size  # noqa: PTH116 (at each commit: a third of what Path costs)
        except OSError:
            return 0

    def written(self) -> None:
        """A commit is in it: fold it when it has grown past its bound."""
        self.dirty = True
        self.left_bytes = self.size()
        if self.left_bytes > self._bound:
            self.fold()

    def fold_soon(self) -> None:
        """Fold it after the present group, whatever its size."""
        self._bound = 0

    def fold(self) -> None:
        """Fold it into the database and empty it, as far as open readers allow; never wait for them.

        While a reader holds it up, the bound moves on in steps, so that not every commit tries again.
        """
        try:
            row = self._connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
        except DBAPIError as error:
            log.warning("wal.checkpoint_failed", error=type(error.orig).__name__)
            self.dirty = False
            return
        self.dirty = bool(row[0])
        self.left_bytes = self.size()
        self._bound = self.left_bytes + WAL_STEP_BYTES if self.dirty else WAL_LIMIT_BYTES

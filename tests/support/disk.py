"""What would be left of an outbox on the disk if its process died now."""

from __future__ import annotations

import shutil
from pathlib import Path


def copy_of(database: Path, target: Path) -> Path:
    """Copy a database that is in use, with its log, into a new directory. Returns the directory."""
    target.mkdir(mode=0o700)
    log = database.with_name(f"{database.name}-wal")
    while True:
        state = _state(log)
        # The log first: what moves from it into the database meanwhile is then in both.
        for source in (log, database):
            (target / source.name).unlink(missing_ok=True)
            if source.exists():
                shutil.copy(source, target)
        # One that was emptied meanwhile may have been copied in part: older pages over newer ones.
        if _state(log) == state:
            return target


def _state(path: Path) -> tuple[int, int]:
    """Length and time of the last change; zeros for a file that is not there."""
    if not path.exists():
        return 0, 0
    seen = path.stat()
    return seen.st_size, seen.st_mtime_ns

"""Putting a backup into the place of the queue, while no daemon runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from honchod.errors import BackupRefused
from honchod.outbox import database, replacing
from honchod.outbox.backup import Tell, copy_into, discard, verify
from honchod.outbox.database import StateDir
from honchod.outbox.migrate import refuse_newer, revision
from honchod.outbox.ownership import as_owner
from honchod.outbox.replacing import Why
from honchod.outbox.values import Counts


@dataclass(frozen=True, slots=True)
class Restored:
    """What the queue holds now, and where the one that it replaced is, if there was one."""

    database: Path
    counts: Counts
    replaced: Path | None


def restore(backup: Path, state_dir: Path, *, path: Path | None, now_ms: int, tell: Tell) -> Restored:
    """Replace the queue of ``state_dir`` by a copy of ``backup``. ``path`` is that of its database, if it
    is not the usual one.

    The queue that was there is moved aside. What waits in the new one is looked up at Honcho before it is
    sent: it may have been delivered after the backup was taken. Root leaves the files to the owner of the
    directory. Raises `StateDirBusy` while a daemon runs, `DatabaseTooNew`, `BackupRefused`,
    `StateDirUnusable` or `OSError`, and then nothing has changed.
    """
    if not backup.is_file():
        raise BackupRefused(f"{backup} is not there, or is no file")
    counts = verify(backup)
    source = database.open_reader(backup)
    try:
        source.exec_driver_sql("BEGIN")
        refuse_newer(revision(source), backup)
        with as_owner(state_dir):
            directory = StateDir(state_dir, path)
            directory.hold()
            try:
                fresh = directory.database.with_name(f"{directory.database.name}.restoring")
                discard(fresh)
                copy_into(source, fresh, tell)
                if verify(fresh) != counts:
                    raise BackupRefused(f"{backup} could not be copied whole")
                at = replacing.stamp(directory.database, Why.RESTORED, now_ms)
                replacing.commit(directory.database, fresh, Why.RESTORED, at)
            finally:
                directory.release()
    except DBAPIError as error:
        raise BackupRefused(f"{backup} could not be read ({error.orig})") from None
    finally:
        source.close()
    aside = replacing.aside(directory.database, Why.RESTORED, at)
    return Restored(directory.database, counts, aside if aside.exists() else None)

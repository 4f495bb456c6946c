"""A copy of the database, taken while it is in use: as it was at one instant, verified, its owner's alone."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from honchod.errors import BackupRefused
from honchod.outbox import database, kept, tally
from honchod.outbox.values import Counts

STEP_PAGES: Final = 1024
"""4 MiB: how much is copied between two looks at whether to go on."""

Tell = Callable[[int, int], None]
"""Told how many pages are copied, of how many. What it raises ends the copying."""


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy, and what was in it."""

    path: Path
    size_bytes: int
    counts: Counts


def take(source: Connection, target: Path, tell: Tell) -> Copied:
    """Copy what ``source`` (a connection that nobody else uses) sees now to ``target``, which must be free.

    Writers go on meanwhile; nothing that they do is in the copy. The copy notes that it is one, so that
    whoever opens it as a queue looks before it sends. Raises `BackupRefused`, and then there is no target.
    """
    _reserve(target)
    partial = target.with_name(f"{target.name}.partial")
    try:
        discard(partial)
        source.exec_driver_sql("BEGIN")
        try:
            counts = tally.totals(source)
            copy_into(source, partial, tell)
        finally:
            source.exec_driver_sql("COMMIT")
        if verify(partial) != counts:
            raise BackupRefused(f"{target}: the copy does not hold what the queue held; nothing was kept")
        partial.replace(target)
        database.sync(target.parent)
    except BaseException as error:
        discard(partial)
        target.unlink(missing_ok=True)
        if isinstance(error, OSError | DBAPIError | sqlite3.Error):
            raise BackupRefused(f"{target}: {_reason(error)}; nothing was kept") from error
        raise
    return Copied(target, target.stat().st_size, counts)


def copy_into(source: Connection, target: Path, tell: Tell) -> None:
    """Write what the open transaction of ``source`` sees into a new database (0600), noted to be a copy.

    On disk when it returns.
    """
    raw = source.connection.driver_connection
    copy = database.open_alone(target)
    try:
        into = copy.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        assert isinstance(into, sqlite3.Connection)
        raw.backup(into, pages=STEP_PAGES, progress=lambda _, left, total: tell(total - left, total))
        copy.exec_driver_sql("PRAGMA journal_mode = DELETE").scalar_one()
        kept.doubt(copy)
    finally:
        copy.close()
    database.sync(target)


def discard(path: Path) -> None:
    """Remove a database that was not finished, with what stands beside it."""
    for file in (*database.files(path), path.with_name(f"{path.name}-journal")):
        file.unlink(missing_ok=True)


def verify(path: Path) -> Counts:
    """What a database that nobody has open holds, by its counters.

    Raises `BackupRefused` when SQLite finds a fault in it, or when it is no queue.
    """
    try:
        with contextlib.closing(database.open_reader(path)) as reader:
            return _verified(reader, path)
    except DBAPIError as error:
        raise BackupRefused(f"{path} is no database of honchod, or is damaged ({error.orig})") from None


def _verified(reader: Connection, path: Path) -> Counts:
    found = reader.exec_driver_sql("PRAGMA integrity_check(1)").scalars().all()
    dangling = reader.exec_driver_sql("PRAGMA foreign_key_check").first()
    if found != ["ok"] or dangling is not None:
        raise BackupRefused(f"{path} is damaged")
    return tally.totals(reader)


def _reserve(target: Path) -> None:
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        raise BackupRefused(f"{target} is there already: a backup replaces nothing") from None
    except OSError as error:
        raise BackupRefused(f"{target}: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            "the daemon may not write there; its own state directory and /var/backups/honchod are places "
            "that a hardened unit allows"
        )
    return (error.strerror if isinstance(error, OSError) else None) or "it could not be written"

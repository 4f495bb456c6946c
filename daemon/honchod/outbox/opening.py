"""Opening the database: finish what was begun, look whether it is damaged, save it if it is, upgrade it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import structlog
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from honchod.errors import DatabaseUnusable
from honchod.outbox import damage, database, replacing, salvage
from honchod.outbox.ballast import Ballast
from honchod.outbox.database import Synchronous
from honchod.outbox.migrate import migrate
from honchod.outbox.notices import Salvaged
from honchod.outbox.sqlite_errors import is_damage, is_no_room

_LET_WRITE = "see that this user may write there, and that no other program has it open"

log = structlog.get_logger("honchod.outbox")


@dataclass(frozen=True, slots=True)
class Opened:
    """The writing connection. ``checked``: the whole file was looked at, and found sound."""

    connection: Connection
    checked: bool


def open_database(
    path: Path, ballast: Ballast, *, synchronous: Synchronous, now_ms: int, damaged: bool
) -> Opened:
    """Open the database at ``path``, made or upgraded or saved as need be; on a full disk without ballast.

    ``damaged`` says that it was found so while it was in use. Raises `DatabaseTooNew`, `MigrationFailed` and
    `DatabaseUnusable`.
    """
    while True:
        try:
            return _checked(path, synchronous, now_ms, damaged)
        except DBAPIError as error:
            if is_no_room(error) and ballast.give_up():
                continue
            raise DatabaseUnusable(_advice(error, path)) from None
        except OSError as error:
            raise DatabaseUnusable(f"{path} cannot be opened ({error.strerror}): {_LET_WRITE}") from None


def _checked(path: Path, synchronous: Synchronous, now_ms: int, damaged: bool) -> Opened:
    replacing.finish(path)
    whole = damage.is_small(path)
    damaged = damaged or damage.is_emptied(path)
    if damaged or (damage.size_of(path) and not damage.is_sound(path, whole=whole)):
        whole = True
        _report(salvage.salvage(path, now_ms=now_ms))
    return Opened(_open(path, synchronous), whole)


def _open(path: Path, synchronous: Synchronous) -> Connection:
    connection = database.open_writer(path, synchronous=synchronous)
    try:
        copy = migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    if copy is not None:
        log.info("database.migrated", copy=copy.name)
    return connection


def _report(saved: Salvaged) -> None:
    log.error(
        "database.salvaged",
        events=saved.events,
        unreadable=saved.unreadable,
        missing=saved.missing,
        kept_as=saved.kept_as,
    )


def _advice(error: DBAPIError, path: Path) -> str:
    """What is wrong, and what to do about it, in one line."""
    if is_no_room(error):
        return f"there is no room for {path}: make room on that disk, then start again"
    if not os.statvfs(path.parent).f_favail:
        return f"no inode is left on the disk of {path}: remove files there, then start again"
    if is_damage(error):
        return f"{path} is damaged and could not be saved: move it away to start with an empty queue"
    return f"{path} cannot be opened ({error.orig}): {_LET_WRITE}"

"""The database file: opened, locked, checked and brought to this version's schema.

SQLite below 3.51.3 can corrupt a WAL when two connections write or checkpoint at once. There is one writing
connection, ever, and it does every checkpoint; all others are read-only. The file is never opened by path
in any other way inside the process: closing such a handle would drop SQLite's POSIX locks.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from honchod.errors import StateDirBusy, StateDirUnusable

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

FILE_NAME: Final = "outbox.sqlite3"
LOCK_NAME: Final = "lock"
PAGE_BYTES: Final = 4096
WAL_PAGES: Final = 2048
"""With more pages than these in the WAL, the commit that brought them folds them into the database. The file
of the WAL is written over then, which a sync waits for a third less than for one that grows.
"""
Synchronous = Literal["full", "normal"]
ROOT: Final = 0

_ELSEWHERE: Final = "choose another directory with --state-dir"


class StateDir:
    """An exclusive hold on a state directory, from `hold` until `release` or the end of the process."""

    def __init__(self, path: Path, database: Path | None = None) -> None:
        self.path = path
        self.database = path / FILE_NAME if database is None else database
        self._fd: int | None = None

    def hold(self) -> None:
        """Make the directory (0700) when missing, and lock it.

        Raises `StateDirBusy` with the holder's process id when another daemon has it, `StateDirUnusable` when
        it cannot be made or written, or is somebody else's.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            owner = self.path.stat().st_uid
            if owner not in (os.geteuid(), ROOT):
                raise StateDirUnusable(
                    f"{self.path} belongs to uid {owner}, and this is uid {os.geteuid()}: "
                    f"start as its owner, give it away (chown), or {_ELSEWHERE}"
                )
            fd = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StateDirUnusable(_advice(self.path, error)) from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise StateDirBusy(
                f"{self.path} is held by another honchod (process {holder}): stop it, or {_ELSEWHERE}"
            ) from None
        try:
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode("ascii"), 0)
        except OSError:
            # A full disk has no room for the process id; the lock holds all the same.
            pass
        self._fd = fd

    def release(self) -> None:
        """Let go of the directory. Safe to call twice."""
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None


def _advice(path: Path, error: OSError) -> str:
    """What is wrong with a directory, and what to do about it, in one line."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no room, or no inode, is left on the disk of {path}: make room there, or {_ELSEWHERE}"
    if error.errno == errno.EROFS:
        return f"the disk of {path} is read-only: mount it for writing, or {_ELSEWHERE}"
    return f"{path} cannot be used ({error.strerror}): let uid {os.geteuid()} write there, or {_ELSEWHERE}"


def _connect(path: Path, *, read_only: bool, timeout_s: float) -> sqlite3.Connection:
    # The path may hold any character: as a URI it must be quoted.
    uri = path.absolute().as_uri() + ("?mode=ro" if read_only else "?mode=rwc")
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=timeout_s, cached_statements=256
    )


def open_writer(path: Path, *, synchronous: Synchronous = "full") -> Connection:
    """The one connection that writes. It commits only where it says so; nothing begins by itself."""

    def connect() -> sqlite3.Connection:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.close(fd)  # before SQLite opens it: no lock is lost
        raw = _connect(path, read_only=False, timeout_s=0.0)
        raw.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute(f"PRAGMA synchronous = {synchronous.upper()}")
        raw.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute("PRAGMA secure_delete = ON")
        raw.execute("PRAGMA temp_store = MEMORY")
        raw.execute("PRAGMA cache_size = -8192")
        return raw

    return _engine(connect).connect()


def files(path: Path) -> tuple[Path, ...]:
    """The files that make up a database: itself, its log, and the index of that."""
    return tuple(path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm"))


def open_alone(path: Path) -> Connection:
    """A connection to a database (made, 0600, when missing) that nobody else has open: no log beside it."""

    def connect() -> sqlite3.Connection:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        return _connect(path, read_only=False, timeout_s=0.0)

    return _engine(connect).connect()


def sync(path: Path) -> None:
    """Have a file, or the names in a directory, on disk."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def driver_of(connection: Connection) -> sqlite3.Connection:
    """The driver's own connection under one of Core's."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def open_reader(path: Path) -> Connection:
    """A connection that can only read."""

    def connect() -> sqlite3.Connection:
        raw = _connect(path, read_only=True, timeout_s=5.0)
        # It is for looking only: text that is damaged is shown as it is left.
        raw.text_factory = _lenient
        raw.execute("PRAGMA query_only = ON")
        raw.execute("PRAGMA cache_size = -2048")
        return raw

    return _engine(connect).connect()


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def open_wreck(path: Path) -> Connection:
    """A connection that can only read, and that puts up with a file of which the end is missing."""

    def connect() -> sqlite3.Connection:
        raw = _connect(path, read_only=True, timeout_s=5.0)
        raw.execute("PRAGMA writable_schema = ON")
        raw.execute("PRAGMA query_only = ON")
        return raw

    return _engine(connect).connect()


def _engine(connect: object) -> Engine:
    return create_engine(
        "sqlite+pysqlite://", creator=connect, poolclass=NullPool, isolation_level="AUTOCOMMIT"
    )

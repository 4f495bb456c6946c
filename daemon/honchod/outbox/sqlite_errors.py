"""What an error of SQLite means."""

from __future__ import annotations

import sqlite3
from typing import Final

from sqlalchemy.exc import DBAPIError

_NO_ROOM: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        # A disk quota that is used up, and a WAL index that cannot grow, look like a broken disk.
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
    }
)
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY_CODE: Final = 0xFF


def is_no_room(error: BaseException) -> bool:
    """Whether the disk is full, or the bound on the database's pages is reached."""
    return _code(error) in _NO_ROOM


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says by this error that the file is damaged."""
    code = _code(error)
    return code is not None and code & _PRIMARY_CODE in _DAMAGED


def is_bad_text(error: BaseException) -> bool:
    """Whether a row holds text that is no UTF-8: the module cannot decode it, and quotes it in its error."""
    return _code(error) is None and "decode" in str(_original(error))


def _code(error: BaseException) -> int | None:
    # What the module itself complains about, such as text that is no UTF-8, has none.
    return getattr(_original(error), "sqlite_errorcode", None)


def _original(error: BaseException) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error

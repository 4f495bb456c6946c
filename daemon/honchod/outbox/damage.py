"""Whether a database is damaged: looked at before it is opened for writing, or while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from honchod.outbox import ballast, database
from honchod.outbox.schema import event
from honchod.outbox.sqlite_errors import is_damage
from honchod.outbox.states import State

CHECK_AT_START_BYTES: Final = 64 << 20
"""A larger database is checked while it is in use already: a start has to be over in a second or two, and a
check reads about 200 MB a second.
"""

_SOUND: Final = "ok"
_IS_THERE: Final = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'event'"
# SQLite looks at CHECK constraints only where it may write. An event without a state would not be seen again.
_STRANGE: Final = select(event.c.id).where(event.c.state.not_in([state.value for state in State])).limit(1)


def is_small(path: Path) -> bool:
    """Whether a database, with its log, can be checked before it is opened."""
    return sum(size_of(one) for one in database.files(path)) <= CHECK_AT_START_BYTES


def size_of(path: Path) -> int:
    """The size of a file; 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def is_emptied(path: Path) -> bool:
    """Whether a database that was in use (its ballast tells) has lost even its first page: SQLite would take
    such a file for a new one.
    """
    return path.exists() and size_of(path) < database.PAGE_BYTES and ballast.path_of(path).exists()


def is_sound(path: Path, *, whole: bool) -> bool:
    """Whether there is no fault in the database at ``path``: in all of it, or in its schema alone.

    It only reads: what a damaged file holds stays as it is, its log included. Raises sqlite3's errors for
    what is no damage (a file that cannot be opened, or that somebody else has locked).
    """
    try:
        reader = database.open_reader(path)
        try:
            found = reader.exec_driver_sql(_IS_THERE).scalar_one()
            return not whole or (
                _is_whole(reader) and (not found or reader.execute(_STRANGE).first() is None)
            )
        finally:
            reader.close()
    except DBAPIError as error:
        if is_damage(error):
            return False
        raise


def _is_whole(reader: Connection) -> bool:
    return reader.exec_driver_sql("PRAGMA quick_check(1)").scalars().all() == [_SOUND]

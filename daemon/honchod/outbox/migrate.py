"""Bringing a database to this version's schema: copy first, then upgrade, or refuse.

Alembic is imported only when there is something to upgrade: a start with nothing to do stays fast.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final

from sqlalchemy.engine import Connection

import honchod
from honchod.errors import DatabaseTooNew, MigrationFailed

HEAD: Final = "0006"
"""The revision this version of the code works with. A test holds it to the newest migration."""

KNOWN: Final = frozenset({"0001", "0002", "0003", "0004", "0005", "0006"})
"""Every revision up to `HEAD`."""


def migrations_dir() -> Path:
    """Where the migrations are: inside the wheel, or at the top of a checkout."""
    package = Path(honchod.__file__).parent
    inside = package / "migrations"
    return inside if inside.is_dir() else package.parent.parent / "migrations"


def revision(writer: Connection) -> str | None:
    """The revision a database stands at; None for an empty one."""
    known = writer.exec_driver_sql(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'alembic_version'"
    ).scalar()
    if not known:
        return None
    found = writer.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return None if found is None else str(found)


def migrate(writer: Connection, database: Path) -> Path | None:
    """Upgrade the database behind ``writer`` to `HEAD`. Returns the copy that was made first, if any.

    Raises `DatabaseTooNew` (the database is untouched) and `MigrationFailed` (the copy is kept and named).
    """
    found = revision(writer)
    if found == HEAD:
        return None
    refuse_newer(found, database)
    copy = None if found is None else _copy(writer, database, found)
    try:
        _upgrade(writer)
    except Exception as error:
        kept = f"; the copy made before it is {copy}" if copy else ""
        raise MigrationFailed(
            f"upgrading {database} from {found or 'nothing'} to {HEAD} failed ({type(error).__name__}){kept}"
        ) from error
    return copy


def refuse_newer(found: str | None, database: Path) -> None:
    """Raise `DatabaseTooNew` for a revision that this version does not know."""
    if found is not None and found not in KNOWN:
        raise DatabaseTooNew(
            f"{database} was written by a newer honchod (schema {found}, this one knows {HEAD}): "
            "install that version again, or start with another --state-dir"
        )


def _copy(writer: Connection, database: Path, found: str) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    copy = database.with_name(f"{database.name}.before-{HEAD}-from-{found}-{stamp}")
    copy.touch(mode=0o600)
    target = sqlite3.connect(copy)
    try:
        raw = writer.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        raw.backup(target)
    finally:
        target.close()
    return copy


def _upgrade(writer: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_dir()).replace("%", "%%"))
    config.attributes["connection"] = writer
    writer.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        command.upgrade(config, HEAD)
        writer.exec_driver_sql("COMMIT")
    except BaseException:
        raw = writer.connection.driver_connection
        if isinstance(raw, sqlite3.Connection) and raw.in_transaction:
            writer.exec_driver_sql("ROLLBACK")
        raise

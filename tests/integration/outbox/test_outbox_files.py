"""The state directory: its lock, its permissions, its schema and the upgrade of it."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from open_outbox import SMALL, Box, HandClock, request, said
from sqlalchemy import Index, Table
from sqlalchemy.dialects import sqlite as dialects
from sqlalchemy.exc import OperationalError
from sqlalchemy.schema import CreateIndex, CreateTable

import honchod
from honchod.errors import DatabaseTooNew, MigrationFailed, StateDirBusy
from honchod.outbox import database, migrate
from honchod.outbox.schema import metadata
from honchod.outbox.store import Outbox


def open_outbox(directory: Path, *, path: Path | None = None) -> Outbox:
    return Outbox.open(directory, bounds=SMALL, clock=HandClock(), path=path)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def sqlite(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    try:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    finally:
        connection.close()


HOLD = """
import sys
from pathlib import Path
from honchod.outbox.database import StateDir
StateDir(Path(sys.argv[1])).hold()
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_refused_and_told_who_holds_the_directory(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(honchod.__file__).parent.parent)}
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StateDirBusy, match=rf"process {holder.pid}\b"):
            open_outbox(tmp_path)
        holder.kill()
        holder.wait()
    with Opened(tmp_path):
        assert (tmp_path / database.LOCK_NAME).read_text() == f"{os.getpid()}\n"


class Opened:
    """A box that is closed at the end of a block."""

    def __init__(self, directory: Path) -> None:
        self.box = Box(directory)

    def __enter__(self) -> Box:
        return self.box

    def __exit__(self, *_: object) -> None:
        self.box.close()


def test_a_second_outbox_in_the_same_process_is_refused(box: Box) -> None:
    with pytest.raises(StateDirBusy, match=str(os.getpid())):
        open_outbox(box.directory)


def test_a_closed_directory_can_be_opened_again(tmp_path: Path) -> None:
    for _ in range(2):
        with Opened(tmp_path / "state") as box:
            box.write("s", "kept")
    with Opened(tmp_path / "state") as box:
        assert box.contents("s") == [("queued", "kept")]


def test_nobody_else_can_read_what_is_stored(box: Box) -> None:
    old = os.umask(0)
    try:
        with Opened(box.directory.with_name("open umask")) as other:
            other.write("s", "private")
            modes = {
                path.name: stat.S_IMODE(path.stat().st_mode)
                for path in (other.directory, *other.directory.iterdir())
            }
    finally:
        os.umask(old)
    assert modes == {
        "open umask": 0o700,
        database.FILE_NAME: 0o600,
        f"{database.FILE_NAME}-wal": 0o600,
        f"{database.FILE_NAME}-shm": 0o600,
        f"{database.FILE_NAME}-ballast": 0o600,
        database.LOCK_NAME: 0o600,
    }


def test_a_path_may_hold_any_character(tmp_path: Path) -> None:
    with Opened(tmp_path / "a b?c#d%20é") as box:
        box.write("s", "kept")
        assert [path.name for path in box.directory.iterdir() if "sqlite" in path.name]
        assert box.contents("s") == [("queued", "kept")]


def test_the_database_may_stand_elsewhere(tmp_path: Path) -> None:
    opened = open_outbox(tmp_path / "state", path=tmp_path / "elsewhere.db")
    opened._writer.close()
    opened._directory.release()
    opened._readers.shutdown()
    assert (tmp_path / "elsewhere.db").exists()
    assert [path.name for path in (tmp_path / "state").iterdir()] == [database.LOCK_NAME]


def test_a_reader_cannot_write(box: Box) -> None:
    reader = database.open_reader(box.path)
    try:
        with pytest.raises(OperationalError, match="readonly"):
            reader.exec_driver_sql("DELETE FROM event")
        raw = reader.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        assert raw.execute("PRAGMA query_only").fetchone() == (1,)
    finally:
        reader.close()


def test_the_writer_syncs_each_commit_and_wipes_what_it_deletes(box: Box) -> None:
    def pragmas(tx: object) -> list[object]:
        names = ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "wal_autocheckpoint")
        return [tx.connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]  # type: ignore[attr-defined]

    full = 2
    assert box.run_in_writer(pragmas) == ["wal", full, 1, 1, database.WAL_PAGES]


def shape(connection: sqlite3.Connection, table: str) -> dict[str, object]:
    """Everything that a table promises: columns, defaults, keys, STRICT, checks."""
    listed = connection.execute(f"PRAGMA table_list({table})").fetchone()
    sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    flat = "".join(sql.split()).upper()
    return {
        "columns": [
            (name, kind, notnull, default and str(default).strip("'"), key)
            for _, name, kind, notnull, default, key in connection.execute(f"PRAGMA table_info({table})")
        ],
        "strict": listed[5],
        "foreign": sorted(row[2:] for row in connection.execute(f"PRAGMA foreign_key_list({table})")),
        "unique": sorted(
            tuple(column[2] for column in connection.execute(f"PRAGMA index_info({row[1]})"))
            for row in connection.execute(f"PRAGMA index_list({table})")
            if row[3] == "u"
        ),
        "checks": sorted(part.split(")STRICT")[0].rstrip(",)") for part in flat.split("CHECK(")[1:]),
        "autoincrement": "AUTOINCREMENT" in flat,
    }


def indexes(connection: sqlite3.Connection) -> dict[str, str]:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    return {name: " ".join(sql.split()) for name, sql in rows}


def checks_of(table: Table) -> list[str]:
    return sorted(
        "".join(str(constraint.sqltext).split()).upper()
        for constraint in table.constraints
        if hasattr(constraint, "sqltext")
    )


@pytest.fixture
def migrated_and_declared(box: Box) -> object:
    """Two databases: one that the migrations made, one that the code's tables make."""
    migrated, declared = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
    box.reopen()
    source = sqlite3.connect(box.path)
    source.backup(migrated)
    source.close()
    for table in metadata.sorted_tables:
        declared.execute(str(CreateTable(table).compile(dialect=dialects.dialect())))
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            assert isinstance(index, Index)
            declared.execute(str(CreateIndex(index).compile(dialect=dialects.dialect())))
    yield migrated, declared
    migrated.close()
    declared.close()


def test_the_migrations_make_the_tables_that_the_code_knows(migrated_and_declared: tuple) -> None:  # type: ignore[type-arg]
    migrated, declared = migrated_and_declared
    tables = {
        row[0]
        for row in migrated.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            # The search index and its shadow tables: no table of Core can declare them.
            " AND name <> 'waiting' AND name NOT LIKE 'waiting_%'"
        )
    }
    assert tables == {*metadata.tables, "alembic_version"}
    for name in metadata.tables:
        made, known = shape(migrated, name), shape(declared, name)
        checks = made.pop("checks"), known.pop("checks")
        assert made == known, name
        assert made["strict"] == 1, name
        assert len(checks[0]) == len(checks[1]) == len(checks_of(metadata.tables[name])), name
        flat = "".join(
            migrated.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0].split()
        )
        assert all(f"CHECK({check})" in flat.upper() for check in checks_of(metadata.tables[name])), name


def test_the_migrations_make_the_indexes_that_the_code_knows_predicates_included(
    migrated_and_declared: tuple,  # type: ignore[type-arg]
) -> None:
    migrated, declared = migrated_and_declared
    assert indexes(migrated) == indexes(declared)
    assert sum(" WHERE " in sql for sql in indexes(migrated).values()) == 12


def test_event_ids_are_never_used_twice(box: Box) -> None:
    box.write("s", "a", "b")
    box.run_in_writer(lambda tx: tx.connection.exec_driver_sql("DELETE FROM event"))
    box.write("s", "c")
    assert box.value("SELECT id FROM event") == 3


def scripts(directory: Path) -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(directory))
    return ScriptDirectory.from_config(config)


def test_head_is_the_newest_migration_and_every_one_before_it_is_known() -> None:
    known = scripts(migrate.migrations_dir())
    assert known.get_current_head() == migrate.HEAD
    assert {script.revision for script in known.walk_revisions()} == migrate.KNOWN


NEXT_MIGRATION = """
from alembic import op

revision = "9999"
down_revision = "{head}"
branch_labels = None
depends_on = None


def upgrade():
    op.execute("CREATE TABLE added (id INTEGER PRIMARY KEY) STRICT")
    {more}
"""


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Makes this process one version newer: one more migration, in a directory of its own."""

    def install(*, fails: bool) -> None:
        directory = tmp_path / "migrations"
        shutil.copytree(migrate.migrations_dir(), directory, ignore=shutil.ignore_patterns("__pycache__"))
        more = 'op.execute("INSERT INTO nowhere VALUES (1)")' if fails else "pass"
        (directory / "versions" / "9999_next.py").write_text(
            NEXT_MIGRATION.format(head=migrate.HEAD, more=more)
        )
        monkeypatch.setattr(migrate, "KNOWN", migrate.KNOWN | {"9999"})
        monkeypatch.setattr(migrate, "HEAD", "9999")
        monkeypatch.setattr(migrate, "migrations_dir", lambda: directory)

    return install


def copies(directory: Path) -> list[Path]:
    return [path for path in directory.iterdir() if ".before-" in path.name]


def test_an_upgrade_copies_first_and_keeps_everything(tmp_path: Path, next_version) -> None:  # type: ignore[no-untyped-def]
    with Opened(tmp_path / "state") as box:
        box.write("s", "kept")
        old_head = migrate.HEAD
    next_version(fails=False)
    with Opened(tmp_path / "state") as box:
        assert box.contents("s") == [("queued", "kept")]
        assert box.value("SELECT version_num FROM alembic_version") == "9999"
        assert box.value("SELECT count(*) FROM added") == 0
        (copy,) = copies(box.directory)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    before = sqlite3.connect(copy)
    assert before.execute("SELECT version_num FROM alembic_version").fetchone() == (old_head,)
    assert before.execute("SELECT content FROM event").fetchall() == [("kept",)]
    before.close()


def test_a_failed_upgrade_changes_nothing_keeps_the_copy_and_refuses(tmp_path: Path, next_version) -> None:  # type: ignore[no-untyped-def]
    with Opened(tmp_path / "state") as box:
        box.write("s", "kept")
    next_version(fails=True)
    with pytest.raises(MigrationFailed, match="before-9999") as refused:
        open_outbox(tmp_path / "state")
    (copy,) = copies(tmp_path / "state")
    assert copy.name in str(refused.value)
    database_file = sqlite3.connect(tmp_path / "state" / database.FILE_NAME)
    assert database_file.execute("SELECT version_num FROM alembic_version").fetchone() != ("9999",)
    tables = database_file.execute("SELECT name FROM sqlite_schema WHERE name = 'added'").fetchall()
    assert tables == []
    assert database_file.execute("SELECT content FROM event").fetchall() == [("kept",)]
    database_file.close()


def test_a_new_database_needs_no_copy(tmp_path: Path) -> None:
    with Opened(tmp_path / "state") as box:
        assert copies(box.directory) == []


def test_a_database_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    with Opened(tmp_path / "state") as box:
        box.write("s", "kept")
        path = box.path
    sqlite(path, "UPDATE alembic_version SET version_num = '9999'")
    before = digest(path)
    with pytest.raises(DatabaseTooNew, match="9999"):
        open_outbox(tmp_path / "state")
    assert digest(path) == before
    assert copies(path.parent) == []
    # Nothing is held by the one that was refused.
    sqlite(path, f"UPDATE alembic_version SET version_num = '{migrate.HEAD}'")
    with Opened(tmp_path / "state") as box:
        assert box.contents("s") == [("queued", "kept")]


def test_the_salt_is_made_once_for_each_database(box: Box, tmp_path: Path) -> None:
    salt = box(box.outbox.salt())
    assert len(salt) == 16
    box.reopen()
    assert box(box.outbox.salt()) == salt
    with Opened(tmp_path / "other") as other:
        assert other(other.outbox.salt()) != salt


def test_a_closed_outbox_takes_nothing_more(tmp_path: Path) -> None:
    box = Box(tmp_path / "state")
    box(box.outbox.close())
    with pytest.raises(RuntimeError, match="closed"):
        box(box.outbox.append(request("s", said("late"))))
    box.loop.close()

"""A database of any older version goes on with this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from open_outbox import START_MS, Box

from honchod.outbox import database, migrate
from honchod.outbox.values import LeaseTerms

WRITTEN_BEFORE = (
    """
    INSERT INTO lane (id, host, workspace, session, pending, due_at, look_at) VALUES
    (1, 'h', 'w', 'due', 2, 5, NULL),
    (2, 'h', 'w', 'empty', 0, NULL, NULL),
    (3, 'h', 'w', 'odd', 1, 9, 7),
    (4, 'h', 'w', 'quiet', 0, NULL, NULL)
    """,
    """
    INSERT INTO event (lane_id, message_id, part, parts, honchod_id, kind, peer, role, author, content,
        created_at, queued_at, size, digest, state, uid) VALUES
    (1, 'a', 0, 1, 'x', 'message', 'al', 'user', 'human', 'one', 1, 1, 3, x'00', 'queued', 1000),
    (1, 'b', 0, 1, 'y', 'message', 'al', 'user', 'human', 'two', 1, 1, 3, x'01', 'queued', 1000),
    (3, 'c', 0, 1, 'z', 'message', 'al', 'user', 'human', 'three', 1, 1, 5, x'02', 'queued', 1000)
    """,
    "INSERT INTO tally (host, workspace, queued, bytes) VALUES ('h', 'w', 3, 11)",
    "INSERT INTO share (uid, rows, bytes) VALUES (1000, 3, 11)",
)
ODD = (
    "UPDATE lane SET due_at = NULL WHERE session = 'odd'",
    "UPDATE lane SET due_at = 5 WHERE session = 'empty'",
)
"""What a due time could say when it did not tell whether something waits."""
SCHEMA = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name"


def write_as(revision: str, path: Path) -> None:
    """Make a database as the version of that revision left it, with something that waits in it."""
    writer = database.open_writer(path)
    config = Config()
    config.set_main_option("script_location", str(migrate.migrations_dir()))
    config.attributes["connection"] = writer
    writer.exec_driver_sql("BEGIN")
    command.upgrade(config, revision)
    for statement in (*WRITTEN_BEFORE, *(ODD if revision < "0005" else ())):
        writer.exec_driver_sql(statement)
    writer.exec_driver_sql("COMMIT")
    writer.close()


@contextmanager
def opened(directory: Path) -> Iterator[Box]:
    box = Box(directory)
    try:
        yield box
    finally:
        box.close()


@pytest.fixture(params=sorted(migrate.KNOWN - {migrate.HEAD}))
def upgraded(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Box]:
    directory = tmp_path / "state"
    directory.mkdir()
    write_as(request.param, directory / database.FILE_NAME)
    with opened(directory) as box:
        yield box


def test_an_upgraded_database_has_the_schema_of_a_new_one(upgraded: Box, tmp_path: Path) -> None:
    with opened(tmp_path / "new") as new:
        assert upgraded.rows(SCHEMA) == new.rows(SCHEMA)


def test_an_upgraded_database_delivers_what_waits_and_takes_more_in(upgraded: Box) -> None:
    """A lane whose due time did not tell whether something waits in it is put right on the way."""
    waiting = "SELECT session FROM lane WHERE due_at IS NOT NULL ORDER BY id"
    assert [row.session for row in upgraded.rows(waiting)] == ["due", "odd"]
    terms = LeaseTerms(max_age_ms=START_MS)
    leases = [upgraded.lease(terms=terms) for _ in range(2)]
    contents = {lease.lane.session: [event.content for event in lease.events] for lease in leases}
    assert contents == {"due": ["one", "two"], "odd": ["three"]}
    for lease in leases:
        upgraded.deliver(lease)
    assert upgraded.rows(waiting) == []
    assert not upgraded.write("due", "four")[0].duplicate
    assert upgraded.lane("due").pending == 1

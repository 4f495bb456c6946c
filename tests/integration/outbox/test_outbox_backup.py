"""Backups of a queue that is in use, and putting them back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from open_outbox import START_MS, Box, HandClock, request, said
from sqlalchemy.engine import Connection

from honchod.errors import BackupRefused, DatabaseTooNew, StateDirBusy
from honchod.outbox import backup, database, replacing, tally
from honchod.outbox.replacing import Why
from honchod.outbox.restore import Restored, restore


def nothing(_done: int, _total: int) -> None:
    """Told of progress."""


def put_back(source: Path, state_dir: Path) -> Restored:
    return restore(source, state_dir, path=None, now_ms=START_MS, tell=nothing)


@pytest.fixture
def opened() -> Iterator[list[Connection]]:
    """Connections that are closed after the test."""
    connections: list[Connection] = []
    yield connections
    for connection in connections:
        connection.close()


@pytest.fixture
def copy(box: Box, tmp_path: Path) -> Path:
    """A backup of a queue with one message that waits, one delivered and one dead."""
    box.write("s", "delivered")
    box.deliver(box.lease())
    box.bury("s", "dead")
    box.write("s", "waits")
    target = tmp_path / "copy.sqlite3"
    box(box.outbox.backup(target, nothing))
    return target


def test_a_backup_under_full_load_holds_what_the_queue_held_at_its_instant(
    box: Box, tmp_path: Path, opened: list[Connection]
) -> None:
    """Four writers go on all the time; the copy's rows, counters and those of its instant are one."""
    target = tmp_path / "copy.sqlite3"
    for number in range(20):
        box.write("first", *(f"{number}/{part}" for part in range(50)))
    steps: list[tuple[int, int]] = []

    async def load() -> tuple[backup.Copied, int]:
        over = asyncio.Event()
        written = asyncio.Semaphore(0)

        async def write(session: str) -> int:
            number = 0
            while not over.is_set():
                await box.outbox.append(request(session, said(f"{session} {number} " + "x" * 2000)))
                number += 1
                written.release()
            return number

        writers = [asyncio.create_task(write(f"s{number}")) for number in range(4)]
        for _ in range(100):
            await written.acquire()
        copied = await box.outbox.backup(target, lambda *step: steps.append(step))
        over.set()
        return copied, sum(await asyncio.gather(*writers))

    copied, written = box(load())
    opened.append(reader := database.open_reader(target))
    by_place = tally.by_place(reader)
    assert tally.recount(reader) == by_place
    assert sum(place.queued for place in by_place.values()) == copied.counts.queued
    assert 1100 <= copied.counts.queued < 1000 + written
    assert reader.exec_driver_sql("PRAGMA integrity_check").scalars().all() == ["ok"]
    assert steps[-1][0] == steps[-1][1] > 0
    # Of each session, the copy has the beginning, without a gap.
    for session, first, last, rows in reader.exec_driver_sql(
        "SELECT session, min(event.id), max(event.id), count(*) FROM event JOIN lane ON lane.id = lane_id"
        " WHERE session LIKE 's%' GROUP BY session"
    ):
        (live,) = box.rows(
            "SELECT count(*) FROM event JOIN lane ON lane.id = lane_id"
            " WHERE session = ? AND event.id BETWEEN ? AND ?",
            *(session, first, last),
        )
        assert rows == live[0]


def test_a_backup_is_one_file_for_its_owner_alone(copy: Path) -> None:
    assert [path.name for path in copy.parent.iterdir() if path.name.startswith("copy")] == [copy.name]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_backup_replaces_nothing(box: Box, copy: Path) -> None:
    before = copy.read_bytes()
    with pytest.raises(BackupRefused, match="there already"):
        box(box.outbox.backup(copy, nothing))
    assert copy.read_bytes() == before


def test_a_backup_that_cannot_be_written_says_why_and_leaves_nothing(box: Box, tmp_path: Path) -> None:
    with pytest.raises(BackupRefused, match="No such file or directory"):
        box(box.outbox.backup(tmp_path / "missing" / "copy", nothing))

    def stop(_done: int, _total: int) -> None:
        raise InterruptedError("stopped")

    box.write("s", "a")
    with pytest.raises((BackupRefused, InterruptedError)):
        box(box.outbox.backup(tmp_path / "copy", stop))
    assert not list(tmp_path.glob("copy*"))
    box.write("s", "the queue goes on")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a small file system of its own")
def test_a_backup_on_a_full_disk_leaves_nothing(box: Box, tmp_path: Path) -> None:
    box.write("s", *("x" * 20_000 for _ in range(50)))
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small], check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(BackupRefused):
            box(box.outbox.backup(small / "copy", nothing))
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_what_is_put_back_looks_before_it_sends(box: Box, copy: Path, tmp_path: Path) -> None:
    restored = put_back(copy, tmp_path / "other")
    assert (restored.counts.queued, restored.counts.dead, restored.replaced) == (1, 1, None)
    assert stat.S_IMODE(restored.database.stat().st_mode) == 0o600
    other = Box(tmp_path / "other", clock=HandClock())
    try:
        other.recover()
        assert other.lane("s").uncertain == 1
        assert other.contents("s") == box.contents("s")
        other.clock.pass_ms(60_000)
        assert other.lease().uncertain
    finally:
        other.close()


def test_the_queue_that_was_there_is_kept_with_its_log(box: Box, copy: Path, tmp_path: Path) -> None:
    other = Box(tmp_path / "other")
    other.write("late", "not in the backup")
    other.close_reader()
    # As a killed daemon leaves it: with a log that is not folded in.
    log = database.files(other.path)[1]
    assert log.stat().st_size
    saved = {path: path.read_bytes() for path in database.files(other.path)[:2]}
    other.close()
    for path, content in saved.items():
        path.write_bytes(content)
    restored = put_back(copy, tmp_path / "other")
    assert restored.replaced is not None
    with contextlib.closing(sqlite3.connect(restored.replaced)) as kept:
        assert kept.execute("SELECT content FROM event").fetchall() == [("not in the backup",)]
    with contextlib.closing(sqlite3.connect(restored.database)) as present:
        assert present.execute("SELECT count(*) FROM event").fetchone() == (3,)


def test_nothing_is_put_back_while_a_daemon_runs(box: Box, copy: Path) -> None:
    before = box.contents("s")
    with pytest.raises(StateDirBusy, match=f"process {os.getpid()}"):
        put_back(copy, box.directory)
    assert box.contents("s") == before


@pytest.mark.parametrize("content", [b"", b"no database at all", None])
def test_what_is_no_backup_is_refused_and_nothing_changes(
    content: bytes | None, copy: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad"
    # A whole page of an index or a table overwritten.
    original = copy.read_bytes()
    middle = len(original) // 2 // database.PAGE_BYTES * database.PAGE_BYTES
    broken = original[:middle] + b"\xa5" * database.PAGE_BYTES + original[middle + database.PAGE_BYTES :]
    bad.write_bytes(broken if content is None else content)
    put_back(copy, tmp_path / "other")
    before = sorted(path.name for path in (tmp_path / "other").iterdir())
    with pytest.raises(BackupRefused):
        put_back(bad, tmp_path / "other")
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == before


def test_a_backup_of_a_newer_version_is_refused(copy: Path, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseTooNew):
        put_back(copy, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_restore_that_was_cut_off_is_finished_at_the_next_start(copy: Path, tmp_path: Path) -> None:
    """It died after the name was given that counts, with the old database still in its place."""
    directory = tmp_path / "other"
    old = Box(directory)
    old.write("s", "old")
    old.close()
    path = directory / database.FILE_NAME
    at = replacing.stamp(path, Why.RESTORED, START_MS)
    copy.rename(directory / f"{database.FILE_NAME}.restored-{at}")
    box = Box(directory)
    try:
        assert [content for _, content in box.contents("s")][-1] == "waits"
        assert replacing.aside(path, Why.RESTORED, at).exists()
    finally:
        box.close()


def test_two_restores_in_a_second_replace_no_kept_file(copy: Path, tmp_path: Path) -> None:
    kept = {put_back(copy, tmp_path / "other").replaced for _ in range(4)}
    assert len(kept) == 4


@pytest.mark.skipif(os.geteuid() != 0, reason="only root restores for somebody else")
def test_root_leaves_the_files_to_the_owner_of_the_directory(copy: Path) -> None:
    # Not under tmp_path: what is above it is closed to other users, and pytest closes it again at each start.
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        os.chown(directory, 65534, 65534)
        put_back(copy, directory)
        assert {(path.stat().st_uid, path.stat().st_gid) for path in directory.iterdir()} == {(65534, 65534)}

"""A damaged file, a directory that cannot be used: work on with what is left, or refuse with one line."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from honchod.client import Client
from honchod.client.errors import ClientError
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.raw_http import Peer
from support.waiting import wait_until

PAGE = 4096
SESSIONS = 6
EACH = 20
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount, or give files away")


def message(number: int) -> dict[str, Any]:
    return {"id": f"m{number}", "content": f"message {number} " + "and more words " * (number % 40)}


@pytest.fixture
def filled(daemon: DaemonProcess, network: Network) -> DaemonProcess:
    """A daemon that was stopped while its server was away: all that it holds waits, in the file alone."""
    network.take_down()
    with daemon.start().client() as client:
        for session in range(SESSIONS):
            client.write([message(number) for number in range(EACH)], session=f"s{session}")
    assert daemon.stop() == 0
    return daemon


def overwrite(path: Path, page: int, with_: bytes = b"\xa5" * PAGE) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(with_)


def root_page(path: Path, name: str) -> int:
    with contextlib.closing(sqlite3.connect(path)) as database:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        return int(database.execute(query, (name,)).fetchone()[0])


def leaf_page(path: Path, table: str) -> int:
    """A page that holds rows of a table of which there are several."""
    with contextlib.closing(sqlite3.connect(path)) as database, path.open("rb") as file:
        root = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
        file.seek((root - 1) * PAGE)
        interior = file.read(PAGE)
        assert interior[0] == 5, "the table has more than one page"
        first_cell = int.from_bytes(interior[12:14], "big")
        return int.from_bytes(interior[first_cell : first_cell + 4], "big")


def delivered(remote: Remote, workspace: str) -> dict[str, list[str]]:
    return {
        f"s{session}": [
            one["metadata"]["honchod_message"] for one in remote.messages(workspace, f"s{session}")
        ]
        for session in range(SESSIONS)
    }


def quarantined(daemon: DaemonProcess) -> list[Path]:
    """The damaged databases that were moved aside, without the files of their logs."""
    return sorted(daemon.state_dir.glob("outbox.sqlite3.damaged-*Z"))


def check_accounted_for(daemon: DaemonProcess, remote: Remote, workspace: str) -> int:
    """Everything was delivered in order, or stands in the dead letters. Returns how many are there."""
    daemon.wait_for_delivery()
    there = delivered(remote, workspace)
    with daemon.client() as client:
        letters = client.letters(limit=1000)["items"]
    assert {letter["code"] for letter in letters} <= {"unreadable"}
    for session, ids in there.items():
        dead = {letter["message_id"] for letter in letters if letter["session"] == session}
        assert ids == [f"m{number}" for number in range(EACH) if f"m{number}" not in dead]
    return len(letters)


def test_a_page_of_rows_that_is_overwritten_costs_its_rows_and_no_others(
    filled: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """What cannot be read any more is named in the dead letters; the file is kept; it is said everywhere."""
    before = filled.database.read_bytes()
    overwrite(filled.database, leaf_page(filled.database, "event"))
    damaged = filled.database.read_bytes()
    assert damaged != before
    network.heal()
    filled.start()
    dead = check_accounted_for(filled, remote, workspace)
    assert 0 < dead < SESSIONS * EACH / 2
    (kept,) = quarantined(filled)
    assert kept.read_bytes() == damaged
    filled.kill()
    with filled.start().client() as client:
        assert filled.events("notice.unacknowledged")
        status = client.status()
        (notice,) = [notice for notice in status["notices"] if "damaged" in notice]
        assert kept.name in notice
        assert f"{dead} that waited are unreadable" in notice
        assert status["unacknowledged"] == 1
        with Peer(filled.socket) as peer:
            assert b"honchod_salvages_unacknowledged 1.0" in peer.request("GET", "/metrics").body
        assert filled.events("database.salvaged")[0]["unreadable"] == dead
        assert client.acknowledge() == {"acknowledged": 1}
        assert client.status()["notices"] == []
        assert client.acknowledge() == {"acknowledged": 0}


def test_damage_that_shows_while_it_runs_is_mended_without_an_end(
    filled: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """The file is overwritten under a running daemon: it stops, saves what it can, and serves again."""
    filled.start()
    process = filled.process
    with filled.client(timeout_s=20) as client:
        damage_under_it(filled, client)
        network.heal()
        wait_until(lambda: filled.events("database.salvaged"), "the damage to show")
        wait_until(lambda: client.status()["unacknowledged"] == 1, "it to serve again")
        client.write([{"id": "new", "content": "taken as before"}], session="new")
    check_accounted_for(filled, remote, workspace)
    assert remote.contents(workspace, "new") == ["taken as before"]
    assert filled.process is process
    assert filled.stop() == 0


def damage_under_it(daemon: DaemonProcess, client: Client) -> None:
    """Overwrite a page that it needs for its next delivery."""
    client.pause()
    wait_until(lambda: client.status()["wal_bytes"] == 0, "an idle daemon's log to be folded in")
    overwrite(daemon.database, leaf_page(daemon.database, "event"))
    with contextlib.suppress(ClientError):
        client.resume()


def test_damage_that_shows_again_right_after_it_was_mended_ends_it(filled: DaemonProcess) -> None:
    """A disk or a memory that is broken would only damage more; everything that was there is kept."""
    filled.start()
    with filled.client(timeout_s=20) as client:
        damage_under_it(filled, client)
        wait_until(lambda: client.status()["unacknowledged"] == 1, "it to serve again")
        damage_under_it(filled, client)

        def ends() -> bool:
            # What it has just written it need not read; the letters it has to.
            with contextlib.suppress(ClientError):
                client.letters()
            return filled.process is not None and filled.process.poll() is not None

        wait_until(ends, "it to give up")
    assert filled.wait() == 1
    assert "damaged again right after it was replaced" in filled.log().splitlines()[-1]
    assert len(quarantined(filled)) == 1
    assert filled.start().status()["unacknowledged"] == 2


def test_what_was_delivered_before_the_damage_is_found_and_not_sent_again(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """The log with the last deliveries is gone: the file believes that they still wait."""
    with daemon.start().client() as client:
        client.pause()
        client.write([message(number) for number in range(EACH)], session="s")
        wait_until(lambda: client.status()["wal_bytes"] == 0, "the messages to be in the file")
        before = daemon.database.read_bytes()
        client.resume()
        daemon.wait_for_delivery()
    daemon.kill()
    daemon.database.write_bytes(before)
    Path(f"{daemon.database}-wal").write_bytes(b"")
    overwrite(daemon.database, root_page(daemon.database, "tally"))
    daemon.start().wait_for_delivery()
    assert len(remote.messages(workspace, "s")) == EACH
    assert daemon.events("batch.delivered")[-1]["reconciled"] == EACH


def test_a_log_that_lost_its_end_costs_what_was_in_the_end(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    network.take_down()
    with daemon.start().client() as client:
        for number in range(EACH):
            client.write([message(number)], session="s")
        # A reader keeps the log from being folded in.
        with contextlib.closing(sqlite3.connect(f"file:{daemon.database}?mode=ro", uri=True)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM event").fetchone()
            client.write([message(EACH)], session="s")
            daemon.kill()
    log = Path(f"{daemon.database}-wal")
    size = log.stat().st_size
    assert size > 2 * PAGE
    os.truncate(log, size * 2 // 3)
    network.heal()
    daemon.start().wait_for_delivery()
    there = [one["metadata"]["honchod_message"] for one in remote.messages(workspace, "s")]
    assert 0 < len(there) < EACH
    assert there == [f"m{number}" for number in range(len(there))]
    assert daemon.status()["queue"]["dead"] == 0


def test_a_missing_index_of_the_log_is_made_again(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    network.take_down()
    with daemon.start().client() as client:
        client.write([message(number) for number in range(EACH)], session="s")
    daemon.kill()
    Path(f"{daemon.database}-shm").unlink()
    network.heal()
    daemon.start().wait_for_delivery()
    assert len(remote.messages(workspace, "s")) == EACH
    assert daemon.status()["notices"] == []


@pytest.mark.parametrize(
    "harm",
    ["metadata = '{\"half'", "content = CAST(x'6f6bff' AS TEXT)", "metadata = CAST(x'ff' AS TEXT)"],
)
def test_one_unreadable_row_is_dead_lettered_and_in_nobodys_way(
    filled: DaemonProcess, network: Network, remote: Remote, workspace: str, harm: str
) -> None:
    with contextlib.closing(sqlite3.connect(filled.database)) as database, database:
        database.execute(
            f"UPDATE event SET {harm} WHERE message_id = 'm3' "
            "AND lane_id = (SELECT id FROM lane WHERE session = 's0')"
        )
    network.heal()
    filled.start()
    assert check_accounted_for(filled, remote, workspace) == 1
    with filled.client() as client:
        (letter,) = client.letters()["items"]
        assert (letter["session"], letter["message_id"], letter["code"]) == ("s0", "m3", "unreadable")
        assert client.letter(letter["id"], content=True)["message_id"] == "m3"
    assert "ok\ufffd" not in filled.log()


def test_a_database_of_a_newer_version_is_refused_untouched(filled: DaemonProcess) -> None:
    with contextlib.closing(sqlite3.connect(filled.database)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    before = filled.database.read_bytes()
    assert "newer honchod" in refusal(filled)
    assert filled.database.read_bytes() == before


def refusal(daemon: DaemonProcess) -> str:
    """The one line with which it refuses to start."""
    logged = len(daemon.log())
    daemon.start(ready=False)
    assert daemon.wait() == 1
    (line,) = daemon.log()[logged:].splitlines()
    assert line.startswith("honchod: ")
    return line


def test_a_database_that_somebody_else_has_open_alone_is_refused(filled: DaemonProcess) -> None:
    with contextlib.closing(sqlite3.connect(filled.database)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        assert "no other program has it open" in refusal(filled)
    assert filled.start().status()["queue"]["pending"] == SESSIONS * EACH


@AS_ROOT
def test_a_directory_of_somebody_else_is_refused(daemon: DaemonProcess) -> None:
    daemon.state_dir.mkdir(mode=0o700)
    os.chown(daemon.state_dir, 12_345, 12_345)
    line = refusal(daemon)
    assert str(daemon.state_dir) in line
    assert "uid 12345" in line
    assert list(daemon.state_dir.iterdir()) == []


@contextlib.contextmanager
def mounted(directory: Path, *options: str) -> Iterator[None]:
    """A disk of its own at ``directory``."""
    directory.mkdir(mode=0o700, exist_ok=True)
    done = subprocess.run(["mount", *options, str(directory)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"this machine mounts nothing: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=True)


@AS_ROOT
def test_a_read_only_disk_is_refused(filled: DaemonProcess) -> None:
    with mounted(filled.state_dir, "--bind", str(filled.state_dir)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(filled.state_dir)], check=True)
        line = refusal(filled)
    assert "read-only" in line
    assert str(filled.state_dir) in line
    assert filled.start().status()["queue"]["pending"] == SESSIONS * EACH


@AS_ROOT
def test_a_full_inode_table_is_refused_and_harms_no_running_daemon(daemon: DaemonProcess) -> None:
    with mounted(daemon.state_dir, "-t", "tmpfs", "-o", "nr_inodes=16,size=64m,mode=0700", "none"):
        with daemon.start().client() as client:
            fill_inodes(daemon.state_dir)
            for number in range(EACH):
                client.write([message(number)], session="s")
            daemon.wait_for_delivery()
        assert daemon.stop() == 0
        fill_inodes(daemon.state_dir)
        assert "no inode is left" in refusal(daemon)
        for file in daemon.state_dir.glob("hog-*"):
            file.unlink()
        assert daemon.start().status()["queue"]["delivered"] == EACH
        daemon.stop()


def fill_inodes(directory: Path) -> None:
    with contextlib.suppress(OSError):
        for number in range(1000):
            (directory / f"hog-{os.urandom(4).hex()}-{number}").touch()

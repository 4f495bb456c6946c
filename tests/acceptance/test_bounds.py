"""Full queues, full disks, long reads: refused with the right word, delivered all the same (C49, C50)."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from honchod.client import Client
from honchod.client.errors import OutboxFull
from honchod.outbox.store import RESERVE_BYTES
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.other_user import ask_as
from support.waiting import PATIENCE, wait_until

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount, or speak as somebody else")
AGENT_UID = 20_001


def message(number: int, size: int = 0) -> dict[str, Any]:
    return {"id": f"m{number}", "content": f"message {number} ".ljust(size, "x")}


def ids(remote: Remote, workspace: str, session: str) -> list[str]:
    return [one["metadata"]["honchod_message"] for one in remote.messages(workspace, session)]


def resident_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


def write_until_full(client: Client, taken: list[str], *, size: int, together: int = 1) -> OutboxFull:
    """Write until it is refused; what was acknowledged is added to ``taken``."""
    for first in range(len(taken), 10_000, together):
        messages = [message(number, size) for number in range(first, first + together)]
        try:
            client.write(messages, session="s")
        except OutboxFull as refused:
            return refused
        taken += [one["id"] for one in messages]
    raise AssertionError("it was never full")


def test_at_the_row_bound_writes_are_refused_and_all_else_goes_on(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """Nothing that waits gives way; what was delivered does; intake resumes by itself."""
    daemon.configure({"outbox": {"max_rows": 30}})
    network.take_down()
    with daemon.start().client() as client:
        for number in range(30):
            client.write([message(number)], session="s")
        with pytest.raises(OutboxFull) as refused:
            client.write([message(30)], session="s")
        assert refused.value.status == 507
        assert refused.value.retry_after_s
        status = client.status()
        assert status["queue"]["pending"] == 30
        assert client.letters()["total"] == 0
        network.heal()
        daemon.wait_for_delivery()
        client.write([message(number) for number in range(30, 50)], session="s")
        daemon.wait_for_delivery()
    assert ids(remote, workspace, "s") == [f"m{number}" for number in range(50)]


def test_a_request_that_does_not_fit_is_refused_whole(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    daemon.configure({"outbox": {"max_rows": 10}})
    network.take_down()
    with daemon.start().client() as client:
        client.write([message(number) for number in range(8)], session="s")
        with pytest.raises(OutboxFull):
            client.write([message(number) for number in range(8, 11)], session="s")
        client.write([message(number) for number in range(8, 10)], session="s")
        network.heal()
        daemon.wait_for_delivery()
    assert ids(remote, workspace, "s") == [f"m{number}" for number in range(10)]


def test_at_the_byte_bound_each_202_is_true_and_intake_resumes(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C50, with SQLite's own bound."""
    max_bytes = 2 << 20
    daemon.configure({"outbox": {"max_bytes": max_bytes}})
    network.take_down()
    taken: list[str] = []
    with daemon.start().client() as client:
        write_until_full(client, taken, size=20_000)
        assert 50 * 20_000 < len(taken) * 20_000 <= max_bytes
        # Failed attempts and the search index are written down beyond the bound, in the reserve.
        assert client.status()["database_bytes"] <= max_bytes + RESERVE_BYTES
        network.heal()
        daemon.wait_for_delivery()
        for number in range(1000, 1100):
            client.write([message(number, 20_000)], session="s", wait_s=20 * PATIENCE)
            taken.append(f"m{number}")
        daemon.wait_for_delivery()
    assert ids(remote, workspace, "s") == taken
    assert daemon.database.stat().st_size <= max_bytes + RESERVE_BYTES


def test_dead_letters_give_no_way(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    daemon.configure({"outbox": {"max_rows": 10}})
    network.hit("POST messages: status=422")
    with daemon.start().client() as client:
        client.write([message(number) for number in range(4)], session="s")
        wait_until(lambda: client.letters()["total"] == 4, "four dead letters")
        network.heal()
        for number in range(10, 40):
            client.write([message(number)], session="s", wait_s=10 * PATIENCE)
        daemon.wait_for_delivery()
        assert client.letters()["total"] == 4
    assert ids(remote, workspace, "s") == [f"m{number}" for number in range(10, 40)]


@AS_ROOT
def test_one_runaway_agent_leaves_room_for_the_others(daemon: DaemonProcess, network: Network) -> None:
    """429 `quota` for the uid that used up its share; another's share, and the operator, are untouched."""
    daemon.configure(
        {
            "outbox": {"max_rows": 100, "quota_share": 0.2},
            "access": {"allow_uids": [AGENT_UID, AGENT_UID + 1]},
        }
    )
    network.take_down()
    daemon.start()
    # Another user may not look into a directory of root's.
    daemon.directory.chmod(0o755)

    def write(uid: int, first: int, count: int) -> tuple[int, str]:
        body = {"session": f"of-{uid}", "messages": [message(first + number) for number in range(count)]}
        return ask_as(daemon.socket, uid, "POST", "/v1/messages", json.dumps(body).encode())

    assert write(AGENT_UID, 0, 20)[0] == 202
    status, text = write(AGENT_UID, 20, 1)
    assert (status, json.loads(text)["code"]) == (429, "quota")
    assert write(AGENT_UID + 1, 0, 20)[0] == 202
    with daemon.client() as client:
        client.write([message(number) for number in range(60)], session="operator")
        with pytest.raises(OutboxFull):
            client.write([message(60)], session="operator")
        assert client.status()["queue"]["pending"] == 100
        network.heal()
        daemon.wait_for_delivery()
    assert write(AGENT_UID, 20, 20)[0] == 202


def test_delivered_content_is_gone_from_the_file_and_its_id_is_still_known(
    daemon: DaemonProcess, network: Network
) -> None:
    daemon.configure({"outbox": {"content_after_delivery": "0s"}})
    secret = "the blue heron nests in the third willow"
    with daemon.start().client() as client:
        # Beside others in a page, and in pages of their own.
        texts = [secret, *(f"{number} {secret} " * 10**number for number in range(4))]
        client.write(
            [{"id": f"m{number}", "content": text} for number, text in enumerate(texts, 1)], session="s"
        )
        daemon.wait_for_delivery()
        (again,) = client.write([{"id": "m1", "content": secret}], session="s").results
        assert again.status == "duplicate"
    assert daemon.stop() == 0
    for file in daemon.state_dir.iterdir():
        assert b"blue heron" not in file.read_bytes(), file.name


def test_the_log_is_bounded_while_somebody_reads(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """A reader holds an old snapshot: the log cannot be folded in, and then takes nothing new."""
    bound = 32 << 20
    daemon.configure({"outbox": {"max_bytes": "64MiB"}})
    network.take_down()
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
        taken = ["m0"]
        with contextlib.closing(sqlite3.connect(f"file:{daemon.database}?mode=ro", uri=True)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM event").fetchone()
            refused = write_until_full(client, taken, size=20_000, together=50)
            assert "log" in refused.detail
            largest = client.status()["wal_bytes"]
            assert bound < largest < bound + (8 << 20)
        client.write([message(10_000)], session="s", wait_s=20 * PATIENCE)
        taken.append("m10000")
        assert client.status()["wal_bytes"] < bound
        network.heal()
        daemon.wait_for_delivery()
    assert ids(remote, workspace, "s") == taken


@contextlib.contextmanager
def small_disk(directory: Path, size: str) -> Iterator[None]:
    directory.mkdir(mode=0o700)
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "none", str(directory)],
        capture_output=True,
        text=True,
    )
    if made.returncode:
        pytest.skip(f"this machine mounts nothing: {made.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=True)


def fill_up(path: Path) -> None:
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as hog:
        while True:
            hog.write(bytes(1 << 16))


@AS_ROOT
def test_on_a_full_disk_each_202_is_true_delivery_goes_on_and_intake_resumes(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C50, on a disk that is full of something else."""
    hog = daemon.state_dir / "hog"
    with small_disk(daemon.state_dir, "80m"), daemon.start().client() as client:
        network.take_down()
        taken = []
        for number in range(100):
            client.write([message(number, 20_000)], session="s")
            taken.append(f"m{number}")
        fill_up(hog)
        assert write_until_full(client, taken, size=20_000).retry_after_s
        assert client.status()["queue"]["pending"] == len(taken)
        network.heal()
        daemon.wait_for_delivery()
        assert ids(remote, workspace, "s") == taken
        with pytest.raises(OutboxFull):
            client.write([message(1000)], session="s")
        assert any("disk is full" in notice for notice in client.status()["notices"])
        daemon.kill()
        daemon.start()
        with pytest.raises(OutboxFull):
            client.write([message(1000)], session="s")
        hog.unlink()
        client.write([message(1000)], session="s", wait_s=20 * PATIENCE)
        daemon.wait_for_delivery()
        assert ids(remote, workspace, "s") == [*taken, "m1000"]
        assert client.status()["notices"] == []
        assert daemon.stop() == 0


@AS_ROOT
def test_a_daemon_starts_on_a_full_disk_and_delivers(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """The ballast that the last one left is what it lives on."""
    network.take_down()
    with small_disk(daemon.state_dir, "80m"):
        with daemon.start().client() as client:
            client.write([message(number, 1000) for number in range(200)], session="s")
        daemon.kill()
        fill_up(daemon.state_dir / "hog")
        network.heal()
        daemon.start().wait_for_delivery()
        assert ids(remote, workspace, "s") == [f"m{number}" for number in range(200)]
        assert daemon.stop() == 0


SESSIONS = 1_000
EACH = 100
WRITERS = 4


@pytest.mark.slow
def test_a_hundred_thousand_waiting_messages_cost_no_memory_and_none_is_evicted(
    daemon: DaemonProcess, network: Network
) -> None:
    """C49: the server is down; 1,000 sessions of 100 messages."""
    daemon.configure({"outbox": {"max_rows": SESSIONS * EACH, "synchronous": "normal"}})
    network.take_down()
    daemon.start()
    assert daemon.process is not None

    def write(first: int) -> None:
        with Client(daemon.socket, timeout_s=60) as client:
            for session in range(first, SESSIONS, WRITERS):
                client.write([message(number) for number in range(EACH)], session=f"s{session}")

    with daemon.client() as client, ThreadPoolExecutor(WRITERS) as writers:
        # What a daemon needs to work at all, before the queue grows.
        for number in range(50):
            client.write([message(number)], session=f"s{number}")
        before_mib = resident_mib(daemon.process.pid)
        list(writers.map(write, range(WRITERS)))
        assert client.status()["queue"]["pending"] == SESSIONS * EACH
        assert resident_mib(daemon.process.pid) < before_mib + 40
        with pytest.raises(OutboxFull):
            client.write([message(EACH)], session="s0")
        assert client.letters()["total"] == 0
        assert threading.active_count() < 50

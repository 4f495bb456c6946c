"""Starting: with a large backlog, as an ordinary user, beside another daemon."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from honchod.client import Client
from support.backlog import fill
from support.daemon import DaemonProcess
from support.network import Network
from support.waiting import wait_until

BACKLOG = 100_000
SESSIONS = 1_000


def resident_mib(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


def test_a_backlog_slows_no_start_and_costs_no_memory(
    make_daemon: Callable[..., DaemonProcess], network: Network
) -> None:
    """100,000 rows in 1,000 sessions and nobody to take them. `make bench` says how fast it is ready."""
    network.take_down()
    daemon = make_daemon(settings={"outbox": {"max_rows": 10 * BACKLOG}}).start()
    assert daemon.process is not None
    wait_until(lambda: daemon.status()["uptime_s"] > 1, "the first round of housekeeping")
    empty_mib = resident_mib(daemon.process.pid)
    assert daemon.stop() == 0
    fill(daemon.database, BACKLOG, SESSIONS)
    daemon.start()
    assert daemon.process is not None
    wait_until(lambda: daemon.events("batch.failed"), "it to try")
    status = daemon.status()
    assert status["queue"]["pending"] == BACKLOG
    assert len(status["lanes"]) == 20
    assert resident_mib(daemon.process.pid) < empty_mib + 30


def test_a_second_daemon_refuses_the_state_directory_and_says_who_holds_it(
    daemon: DaemonProcess, make_daemon: Callable[..., DaemonProcess]
) -> None:
    daemon.start()
    assert daemon.process is not None
    second = make_daemon()
    second.state_dir = daemon.state_dir
    second.start(ready=False)
    assert second.wait() == 1
    (line,) = second.log().splitlines()
    assert str(daemon.state_dir) in line
    assert f"process {daemon.process.pid}" in line


def test_a_second_daemon_never_takes_a_live_socket(
    daemon: DaemonProcess, make_daemon: Callable[..., DaemonProcess]
) -> None:
    daemon.start()
    second = make_daemon()
    second.socket = daemon.socket
    second.start(ready=False)
    assert second.wait() == 1
    assert str(daemon.socket) in second.log()
    with daemon.client() as client:
        assert client.ready()["ready"]


def test_a_socket_file_left_behind_by_a_dead_daemon_is_replaced(daemon: DaemonProcess) -> None:
    daemon.start().kill()
    assert daemon.socket.exists()
    daemon.start()
    with daemon.client() as client:
        assert client.ready()["ready"]


def test_a_wrong_configuration_is_named_whole_and_refused(daemon: DaemonProcess) -> None:
    daemon.settings_file.write_text(
        '[delivery]\nconcurrency = 0\nbatch_max = 101\n[outbox]\nmax_rows = "many"\nnonsense = 1\n'
    )
    daemon.start(ready=False)
    assert daemon.wait() == 2
    log = daemon.log()
    for key in ("delivery.concurrency", "delivery.batch_max", "outbox.max_rows", "outbox.nonsense"):
        assert key in log
    assert not daemon.state_dir.exists()


@pytest.fixture
def home_of_nobody() -> Iterator[Path]:
    """Not under tmp_path: what is above it is closed to other users, and pytest closes it at each start."""
    nobody = pwd.getpwnam("nobody")
    with tempfile.TemporaryDirectory() as home:
        shutil.chown(home, nobody.pw_uid, nobody.pw_gid)
        yield Path(home)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start it as somebody else")
def test_it_runs_as_an_ordinary_user(network: Network, home_of_nobody: Path) -> None:
    """As nobody: its files are its own, and another ordinary user may not even connect."""
    nobody = pwd.getpwnam("nobody")
    home = home_of_nobody
    config = home / "honcho.json"
    config.write_text(f'{{"baseUrl": "{network.url}", "workspace": "w", "peerName": "ann", "aiPeer": "bot"}}')
    run = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    if not _readable_by_all(Path(sys.executable)):
        # An interpreter in somebody's home: let it be read. What is written is still nobody's.
        run += ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
        "HONCHOD_HONCHO_CONFIG": str(config),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    process = subprocess.Popen([*run, sys.executable, "-m", "honchod", "run"], cwd=home, env=environ)
    try:
        socket = home / "honchod" / "honchod.sock"
        with Client(socket) as client:
            wait_until(lambda: client.ready()["ready"], "it to serve as nobody", timeout_s=60)
            client.write([{"content": "hello"}], session="s")
        state = home / ".local/state/honchod"
        for path, mode in ((state, 0o700), (state / "outbox.sqlite3", 0o600), (socket, 0o660)):
            found = path.stat()
            assert (found.st_uid, found.st_mode & 0o777) == (nobody.pw_uid, mode), path
        assert socket.parent.stat().st_mode & 0o777 == 0o750
        process.terminate()
        assert process.wait(30) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)


def _readable_by_all(path: Path) -> bool:
    """Whether everybody may reach a file, and the one it is a link to."""
    chain = {path, path.resolve()}
    return all(parent.stat().st_mode & 0o005 == 0o005 for item in chain for parent in (item, *item.parents))

"""Under a service manager: states, the watchdog, a socket that outlives the daemon."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from honchod.client import Client
from honchod.client.errors import ClientError, Draining
from support import threads
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.systemd import ListeningSocket, NotifySocket
from support.waiting import wait_until

TERM_S = 1.5
"""What the tests set as ``WatchdogSec``."""
ALIVE = "WATCHDOG=1"
SO_ACCEPTCON = 1 << 16
"""linux/net.h: the flag of a socket that listens."""


@pytest.fixture
def heard() -> Iterator[NotifySocket]:
    listening = NotifySocket()
    yield listening
    listening.close()


@pytest.fixture
def watched(daemon: DaemonProcess, heard: NotifySocket) -> DaemonProcess:
    """A running daemon whose watchdog listens."""
    daemon.environ = {"NOTIFY_SOCKET": str(heard.path), "WATCHDOG_USEC": str(int(TERM_S * 1e6))}
    daemon.start()
    heard.wait_for(ALIVE)
    return daemon


def test_it_tells_when_it_serves_reloads_and_stops(daemon: DaemonProcess, heard: NotifySocket) -> None:
    daemon.environ = {"NOTIFY_SOCKET": str(heard.path)}
    daemon.start()
    heard.wait_for("READY=1")
    daemon.signal(signal.SIGHUP)
    reloading = heard.wait_for("RELOADING=1")
    heard.wait_for("READY=1", after_s=reloading)
    assert daemon.stop() == 0
    told = heard.told
    assert told[-1].startswith("STOPPING=1")
    reload = next(text for text in told if "RELOADING=1" in text)
    assert reload.splitlines()[1].startswith("MONOTONIC_USEC=")
    assert ALIVE not in told


def test_the_pulse_stops_with_the_process_and_goes_on_with_it(
    watched: DaemonProcess, heard: NotifySocket
) -> None:
    watched.signal(signal.SIGSTOP)
    wait_until(lambda: heard.silent_s(ALIVE) > 2 * TERM_S, "silence")
    resumed = time.monotonic()
    watched.signal(signal.SIGCONT)
    heard.wait_for(ALIVE, after_s=resumed)


def test_the_pulse_stops_while_the_writer_thread_is_stuck(
    watched: DaemonProcess, heard: NotifySocket, remote: Remote, workspace: str
) -> None:
    """The thread is stopped as by a debugger: the loop goes on, and the daemon knows what is wrong."""
    assert watched.process is not None
    try:
        with threads.stopped(writer_thread(watched.process.pid)):
            write = threading.Thread(target=write_in_vain, args=(watched,))
            write.start()
            heard.wait_for("STATUS=stuck: writer")
            wait_until(lambda: heard.silent_s(ALIVE) > 2 * TERM_S, "silence")
            with watched.client() as client:
                assert client.ready()["ready"]
            write.join()
    except PermissionError:
        pytest.skip("tracing a child is not allowed here")
    resumed = time.monotonic()
    heard.wait_for("STATUS=serving", after_s=resumed)
    heard.wait_for(ALIVE, after_s=resumed)
    assert [line["stuck"] for line in watched.events("progress.missing")] == [["writer"]]
    watched.wait_for_delivery()
    assert remote.contents(workspace, "s") == ["kept"]


def test_what_the_watchdog_kills_says_where_it_was_and_loses_nothing(
    watched: DaemonProcess, remote: Remote, workspace: str
) -> None:
    """What systemd does when the pulse stops: SIGABRT, then a new process."""
    with watched.client() as client:
        client.pause()
        client.write([{"content": "kept", "id": "m"}], session="s")
    watched.signal(signal.SIGABRT)
    assert watched.wait() == -signal.SIGABRT
    assert "Fatal Python error: Aborted" in watched.log()
    assert "outbox/writer.py" in watched.log()
    watched.start().wait_for_delivery()
    assert remote.contents(workspace, "s") == ["kept"]


def writer_thread(pid: int) -> int:
    """The writer's thread id: threads are named after what they do."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == "honchod-writer":
            return int(task.name)
    raise AssertionError("no writer thread")


def write_in_vain(daemon: DaemonProcess) -> None:
    with daemon.client(timeout_s=1.0) as client, contextlib.suppress(ClientError):
        client.write([{"content": "kept", "id": "m"}], session="s")


@pytest.fixture
def listening(daemon: DaemonProcess) -> Iterator[ListeningSocket]:
    """The socket of the daemon, held by somebody else."""
    sock = ListeningSocket(daemon.socket)
    yield sock
    sock.close()


def test_writes_during_a_restart_wait_instead_of_failing(
    daemon: DaemonProcess, listening: ListeningSocket, remote: Remote, workspace: str
) -> None:
    results: list[str] = []
    failures: list[Exception] = []
    over = threading.Event()

    def write() -> None:
        """As a shell hook does: a connection for each message, and no second try."""
        number = 0
        while not over.is_set() or number == 0:
            number += 1
            try:
                with Client(daemon.socket, timeout_s=30) as client:
                    written = client.write([{"content": str(number), "id": str(number)}], session="s")
            except Draining:
                # Accepted in the instant of the stop, and not asked yet: told so, and nothing was stored.
                number -= 1
            except ClientError as error:
                failures.append(error)
            else:
                results.append(written.results[0].status)

    writer = threading.Thread(target=write)
    writer.start()
    listening.start(daemon)
    for _ in range(2):
        before = len(results)
        wait_until(lambda before=before: len(results) > before + 5, "writes to be answered")
        assert daemon.stop() == 0
        assert daemon.socket.exists()
        listening.start(daemon)
    wait_until(lambda: len(daemon.events("daemon.ready")) == 3, "the third daemon")
    over.set()
    writer.join(60)
    assert failures == []
    assert set(results) == {"queued"}
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == [str(number + 1) for number in range(len(results))]


def _is_listened_on(path: Path) -> bool:
    """Without connecting, which would start the daemon. The file is there a moment before that."""
    sockets = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return any(one[-1] == str(path) and int(one[3], 16) & SO_ACCEPTCON for one in sockets)


@pytest.mark.skipif(not shutil.which("systemd-socket-activate"), reason="systemd-socket-activate is absent")
def test_it_serves_on_the_socket_that_systemd_hands_in(daemon: DaemonProcess) -> None:
    """The first caller starts it; its files are not at the path of its own settings."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HONCHO")}
    with daemon.log_file.open("ab") as log:
        daemon.process = subprocess.Popen(
            [
                *("systemd-socket-activate", f"--listen={daemon.socket}"),
                *("--setenv", "HONCHOD_HONCHO_CONFIG"),
                *(sys.executable, "-m", "honchod", "run", "--config", str(daemon.settings_file)),
                *("--socket", "/nonexistent/s.sock", "--state-dir", str(daemon.state_dir)),
            ],
            stdout=log,
            stderr=log,
            env={**environ, "HONCHOD_HONCHO_CONFIG": str(daemon.hosts_file)},
        )
    wait_until(lambda: _is_listened_on(daemon.socket), "the socket")
    with daemon.client(timeout_s=30) as client:
        assert client.write([{"content": "hello"}], session="s").results[0].status == "queued"
    (ready,) = daemon.events("daemon.ready")
    assert ready["socket"] == str(daemon.socket)
    assert daemon.stop() == 0
    assert daemon.socket.exists()


def test_several_sockets_are_one_line_and_no_start(
    make_daemon: Callable[..., DaemonProcess],
) -> None:
    daemon = make_daemon()
    become = (
        "import os, sys; os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='2'); "
        "os.execv(sys.executable, [sys.executable, '-m', 'honchod', 'run', *sys.argv[1:]])"
    )
    refused = subprocess.run(
        [sys.executable, "-c", become, "--config", daemon.settings_file, "--state-dir", daemon.state_dir],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        env={**os.environ, "HONCHOD_HONCHO_CONFIG": str(daemon.hosts_file)},
    )
    assert refused.returncode == 1
    assert refused.stderr.startswith("honchod: 2 sockets were handed in")
    assert json.dumps(refused.stderr).count("\\n") == 1

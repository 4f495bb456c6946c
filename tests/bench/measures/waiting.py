"""What a backlog costs the daemon as a process: its memory, and the time until it serves."""

from __future__ import annotations

import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench import stores
from bench.processes import resident_mb
from bench.rig import Rig, hosts, installed, pid_of
from bench.rows import Result, at_most, compared, counted
from bench.spread import Pair
from support.daemon import DaemonProcess

READY_S: Final = 120.0
SETTLED_S: Final = 3.0
"""After so long a daemon has done what it does once, and its memory is that of its work."""


def measure(rig: Rig) -> Iterator[Result]:
    """In turn with and without rows that wait, for a server that cannot be reached."""
    starts, memory = [], []
    with _prepared(0) as idle, _prepared(rig.plan.waiting) as full:
        for _ in range(rig.plan.starts):
            full_s, full_mb = _life(full)
            idle_s, idle_mb = _life(idle)
            starts.append(Pair(full_s, idle_s))
            memory.append(Pair(full_mb, idle_mb))
    rows = f"{rig.plan.waiting:,} rows waiting"
    yield counted("resident memory, idle", "MB", [pair.theirs for pair in memory], at_most(90.0))
    more = [pair.ours - pair.theirs for pair in memory]
    yield counted(f"more memory with {rows}", "MB", more, at_most(30.0))
    yield compared(f"start to ready with {rows}", "start with none", "s", starts, at_most(1.3))
    yield counted(f"start to ready with {rows}, seconds", "s", [pair.ours for pair in starts], at_most(1.5))


@contextmanager
def _prepared(rows: int) -> Iterator[DaemonProcess]:
    """A daemon that does not run yet, and its state directory."""
    process = installed(hosts(workspace=stores.WORKSPACE))
    try:
        stores.fill(process.state_dir, rows)
        yield process
    finally:
        process.close()


def _life(process: DaemonProcess) -> tuple[float, float]:
    """Start, look, stop. The seconds to ready, and the resident memory after a while."""
    with _notified(process) as told:
        started = time.perf_counter()
        process.start(ready=False)
        while b"READY=1" not in told.recv(4096):
            pass
        ready_s = time.perf_counter() - started
    time.sleep(SETTLED_S)
    memory_mb = resident_mb(pid_of(process))
    process.stop()
    return ready_s, memory_mb


@contextmanager
def _notified(process: DaemonProcess) -> Iterator[socket.socket]:
    """The socket on which the daemon says that it is ready, as it says it to systemd."""
    directory = Path(tempfile.mkdtemp(prefix="notify-"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.settimeout(READY_S)
        told.bind(str(directory / "notify"))
        process.environ["NOTIFY_SOCKET"] = str(directory / "notify")
        yield told
    shutil.rmtree(directory)

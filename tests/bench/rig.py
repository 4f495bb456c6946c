"""What every measure needs: how much to do, a place on the disk, load, and daemons."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.load import Generator
from bench.plan import Plan
from support.daemon import DaemonProcess, toml

NOBODY: Final = "http://127.0.0.1:9"
"""A URL where nobody listens."""
SETTINGS: Final[dict[str, dict[str, Any]]] = {"outbox": {"max_rows": 5_000_000, "max_bytes": "16GiB"}}
"""Room for every run; all else is as it comes."""


@dataclass(frozen=True, slots=True)
class Rig:
    """A run. Everything that is written goes below ``directory``, on one disk."""

    plan: Plan
    directory: Path
    load: Generator

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A directory that is gone afterwards."""
        with tempfile.TemporaryDirectory(dir=self.directory) as path:
            yield Path(path)


def hosts(url: str = NOBODY, workspace: str = "bench") -> dict[str, Any]:
    """A Honcho configuration with one host."""
    return {"baseUrl": url, "workspace": workspace, "peerName": "ann", "aiPeer": "bot"}


def installed(hosts: dict[str, Any]) -> DaemonProcess:
    """A daemon with the settings that it comes with, but for `SETTINGS`; it does not run yet."""
    process = DaemonProcess(hosts)
    # The short waits of the tests would have it keep house every second.
    process.settings_file.write_text(toml(SETTINGS))
    return process


@contextmanager
def daemon(url: str = NOBODY, workspace: str = "bench", *, paused: bool = False) -> Iterator[DaemonProcess]:
    """A daemon that serves. ``paused``: it takes in and delivers nothing."""
    process = installed(hosts(url, workspace))
    try:
        process.start()
        if paused:
            pause(process)
        yield process
    finally:
        process.close()


def pause(process: DaemonProcess) -> None:
    """Stop delivering."""
    with process.client() as client:
        client.call("POST", "/v1/worker/pause")


def pid_of(process: DaemonProcess) -> int:
    """The process id of a daemon that runs."""
    assert process.process is not None
    return process.process.pid


@contextmanager
def honcho(latency_s: float = 0.0) -> Iterator[str]:
    """A Honcho server, the sandbox, in a process of its own. Gives its URL."""
    command = [sys.executable, "-m", "honchod", "sandbox", "--latency", str(latency_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()

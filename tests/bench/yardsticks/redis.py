"""Redis with a sync for each write, on a Unix socket: the fastest durable queue to compare with."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.dialects import StreamAdd
from bench.load import Caller
from support.waiting import wait_until


@contextmanager
def running_redis(directory: Path) -> Iterator[str | None]:
    """A server with its files in ``directory``. Gives its socket; None where there is no Redis."""
    program = shutil.which("redis-server")
    if program is None:
        yield None
        return
    socket = directory / "redis.sock"
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "dir": str(directory),
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _answers(socket), "Redis to answer")
            yield str(socket)
        finally:
            process.terminate()


def _answers(socket: Path) -> bool:
    caller = Caller(str(socket), StreamAdd(), writer=-1)
    try:
        return caller.call() > 0
    finally:
        caller.close()

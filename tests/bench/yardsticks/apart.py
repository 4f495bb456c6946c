"""A yardstick that serves a socket in a process of its own, as the daemon does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

READY: Final = "ready"
"""The line that it prints once it serves."""


@contextmanager
def serving(module: str, socket: Path, *arguments: str, given: bytes = b"") -> Iterator[str]:
    """``python -m module SOCKET arguments`` with ``given`` on its standard input. Gives the socket."""
    command = [sys.executable, "-m", module, str(socket), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(given)
        process.stdin.close()
        process.stdout.readline()
        try:
            yield str(socket)
        finally:
            process.terminate()

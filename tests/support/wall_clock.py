"""The wall clock of one process, turned by hand; its monotonic clock goes on as it is.

A small library, made here with the machine's C compiler, stands between the process and the kernel.
"""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
import time
from collections.abc import MutableMapping
from pathlib import Path

SOURCE = Path(__file__).with_name("wall_clock.c")
SECOND_NS = 1_000_000_000
DAY_S = 86_400


def compiler() -> str | None:
    """The C compiler of this machine, if it has one."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


class WallClock:
    """The wall clock of the processes that are started with ``environ``. It goes right until it is turned."""

    def __init__(self, directory: Path, environ: MutableMapping[str, str]) -> None:
        """Make the library in ``directory`` and name it in ``environ``."""
        library = directory / "wall_clock.so"
        made = subprocess.run(
            [str(compiler()), "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        file = directory / "wall_clock"
        file.write_bytes(bytes(8))
        with file.open("r+b") as opened:
            self._offset = mmap.mmap(opened.fileno(), 8)
        self._own = {"LD_PRELOAD": str(library), "WALL_CLOCK_FILE": str(file)}
        environ |= self._own

    def works(self) -> bool:
        """Whether a process reads it: none does where the system's loader takes no library of ours."""
        self.turn(DAY_S)
        ask = [sys.executable, "-c", "import time; print(time.time())"]
        shown = subprocess.run(ask, capture_output=True, text=True, check=True, env=os.environ | self._own)
        self.turn(0)
        return float(shown.stdout) > time.time() + DAY_S / 2

    def turn(self, offset_s: float) -> None:
        """So far ahead of the real time, from now on."""
        # One store of eight bytes: nobody sees half a jump.
        memoryview(self._offset).cast("q")[0] = int(offset_s * SECOND_NS)

    def turn_to(self, at_s: float) -> None:
        """To this time (seconds since 1970, UTC), from where it goes on."""
        self.turn(at_s - time.time())

"""Where a run took place: without it, no figure means anything."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import subprocess
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Final

from bench.processes import load_average

_PACKAGES: Final = (
    "honchod",
    "aiohttp",
    "SQLAlchemy",
    "uvloop",
    "honcho-ai",
    "huey",
    "persist-queue",
    "litequeue",
)
_SYNCS: Final = 200


@dataclass(frozen=True, slots=True)
class Machine:
    """Processor, disk and versions. ``sync_ms`` is the median of appending 4 KiB to a file with fdatasync."""

    processor: str
    cores: int
    kernel: str
    filesystem: str
    sync_ms: float
    python: str
    sqlite: str
    redis: str
    packages: dict[str, str]
    load_before: float


def look(directory: Path) -> Machine:
    """The machine, and the disk under ``directory``."""
    return Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        kernel=platform.release(),
        filesystem=filesystem(directory),
        sync_ms=_sync_ms(directory),
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
        redis=_redis(),
        packages={name: found for name in _PACKAGES if (found := _version(name))},
        load_before=load_average(),
    )


def filesystem(directory: Path) -> str:
    """The type of the file system that holds ``directory``."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    path = str(directory.resolve())
    holding = [one for one in mounts if path == one[1] or path.startswith(one[1].rstrip("/") + "/")]
    return max(holding, key=lambda one: len(one[1]))[2]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _sync_ms(directory: Path) -> float:
    times = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(_SYNCS):
            started = time.perf_counter()
            os.write(file.fileno(), b"x" * 4096)
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - started) * 1000)
    return median(times)


def _redis() -> str:
    server = shutil.which("redis-server")
    if server is None:
        return ""
    told = subprocess.run([server, "--version"], capture_output=True, text=True, check=False).stdout
    return next((word[2:] for word in told.split() if word.startswith("v=")), "")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""

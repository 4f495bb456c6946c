"""What the kernel tells of a process: processor time, wake-ups, memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Usage:
    """Since the process began, all of its threads that still live."""

    cpu_s: float
    wakeups: int

    def since(self, before: Usage) -> Usage:
        """What came in between."""
        return Usage(self.cpu_s - before.cpu_s, self.wakeups - before.wakeups)


def usage(pid: int) -> Usage:
    """Processor time in nanosecond steps, and how often a thread had waited and was woken."""
    cpu_ns = wakeups = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        cpu_ns += int((thread / "schedstat").read_text().split()[0])
        wakeups += int(_field(thread / "status", "voluntary_ctxt_switches"))
    return Usage(cpu_ns / 1e9, wakeups)


def resident_mb(pid: int) -> float:
    """Resident memory, in units of a million bytes."""
    return int(_field(Path(f"/proc/{pid}/status"), "VmRSS").split()[0]) * 1024 / 1e6


def load_average() -> float:
    """Of the last minute."""
    return os.getloadavg()[0]


def _field(path: Path, name: str) -> str:
    for line in path.read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return value.strip()
    raise KeyError(name)

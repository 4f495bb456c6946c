"""What the daemon costs when nothing happens."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from bench.processes import usage
from bench.rig import Rig, daemon, pid_of
from bench.rows import Result, at_most, counted

SETTLED_S: Final = 5.0
PARTS: Final = 5


def measure(rig: Rig) -> Iterator[Result]:
    """With nothing to deliver and nobody connected."""
    shares, wakeups = [], []
    part_s = rig.plan.idle_s / PARTS
    with daemon() as ours:
        time.sleep(SETTLED_S)
        for _ in range(PARTS):
            before = usage(pid_of(ours))
            time.sleep(part_s)
            used = usage(pid_of(ours)).since(before)
            shares.append(used.cpu_s / part_s * 100)
            wakeups.append(used.wakeups / part_s)
    yield counted("idle: share of a core", "%", shares, at_most(0.2))
    yield counted("idle: wake-ups a second, all threads", "/s", wakeups, at_most(2.0))

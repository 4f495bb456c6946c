"""Recalls while others write: neither may wait for the other.

All keep a pace. In a closed loop 64 clients take all that two cores have, whoever else wants to be served.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bench.dialects import Write
from bench.load import Generator, Job, generator
from bench.measures.recall import RECALL, remember
from bench.rig import Rig, daemon, honcho, pause
from bench.rows import Result, at_most, compared, counted
from bench.spread import Pair

RECALLERS: Final = 64
RECALL_EVERY_S: Final = 0.25
WRITERS: Final = 32
WRITE_EVERY_S: Final = 0.125
BURSTS: Final = 3
"""Each burst lasts as long as so many of the other measures: a 99th percentile needs its samples."""


def measure(rig: Rig) -> Iterator[Result]:
    """The same writers in turn alone and beside the recallers."""
    beside, writes = [], []
    with honcho() as url, daemon(url) as ours, generator() as crowd:
        remember(ours)
        pause(ours)
        socket, seconds = str(ours.socket), BURSTS * rig.plan.burst_s
        recalling = Job(socket, RECALL, RECALLERS, seconds, every_s=RECALL_EVERY_S)
        writing = Job(socket, Write("crowd"), WRITERS, seconds, every_s=WRITE_EVERY_S)
        _both(rig.load, writing, crowd, recalling)
        for _ in range(rig.plan.rounds):
            alone_s = rig.load.run(writing).median_s
            recalled_s, written_s = _both(rig.load, writing, crowd, recalling)
            beside.append(recalled_s * 1000)
            writes.append(Pair(written_s * 1000, alone_s * 1000))
    pace = f"{RECALLERS / RECALL_EVERY_S:.0f} recalls and {WRITERS / WRITE_EVERY_S:.0f} writes a second"
    what = f"hot recall, p99, {RECALLERS} clients, while {WRITERS} write"
    yield counted(what, "ms", beside, at_most(5.0), note=pace)
    what = f"write, p50, {WRITERS} clients, while {RECALLERS} recall"
    yield compared(what, "the same alone", "ms", writes, at_most(1.33), note=pace)


def _both(load: Generator, writing: Job, crowd: Generator, recalling: Job) -> tuple[float, float]:
    """The 99th percentile of the recalls and the median of the writes, side by side (seconds)."""
    recalled, written = crowd.begin(recalling), load.begin(writing)
    return recalled.result().p99_s, written.result().median_s

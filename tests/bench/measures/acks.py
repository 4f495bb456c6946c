"""How long an acknowledgement takes and how many there are a second: durable, over the socket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from bench.dialects import Dialect, StreamAdd, Write
from bench.load import Caller, Generator, Job
from bench.processes import usage
from bench.rig import Rig, daemon, pid_of
from bench.rows import Result, Skipped, at_least, at_most, compared
from bench.spread import Pair
from bench.yardsticks.redis import running_redis
from bench.yardsticks.sqlite import RawSqlite
from bench.yardsticks.storing import running_storing

WRITERS: Final = 32
BATCHERS: Final = 8
BATCH: Final = 100
ONE: Final = "durable ack, 1 writer, 1 message, p50"
MANY: Final = "acks a second, 32 writers, 1 message a request"
BATCHES: Final = "messages a second, 8 writers, 100 a request"
REDIS: Final = "Redis XADD, appendfsync always, 32 writers"
STORING: Final = "a Python server that only stores"
WARM_S: Final = 1.5
"""Until the WAL has its size: from then on it is written over, as the yardstick's is."""


@dataclass(slots=True)
class _Pairs:
    one: list[Pair] = field(default_factory=list)
    many: list[Pair] = field(default_factory=list)
    redis: list[Pair] = field(default_factory=list)
    batches: list[Pair] = field(default_factory=list)
    one_stored: list[Pair] = field(default_factory=list)
    many_stored: list[Pair] = field(default_factory=list)
    batches_stored: list[Pair] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)


def measure(rig: Rig) -> Iterator[Result]:
    """Intake alone: delivery is paused, as no consumer reads from the yardsticks either."""
    pairs = _Pairs()
    with (
        rig.scratch() as directory,
        daemon(paused=True) as ours,
        running_redis(directory) as redis,
        running_storing(directory) as storing,
    ):
        raw = RawSqlite(directory)
        socket = str(ours.socket)
        callers = Caller(socket, Write("one"), writer=WRITERS), Caller(storing, Write("one"), writer=WRITERS)
        for server in (socket, storing):
            _rate(rig.load, server, Write("warm"), WRITERS, WARM_S)
        for _ in range(rig.plan.rounds):
            ours_ms, storing_ms = (
                median(caller.call() for _ in range(rig.plan.calls)) * 1000 for caller in callers
            )
            pairs.one.append(Pair(ours_ms, median(raw.insert() for _ in range(rig.plan.calls)) * 1000))
            pairs.one_stored.append(Pair(ours_ms, storing_ms))
            before = usage(pid_of(ours))
            done = rig.load.run(Job(socket, Write("many"), WRITERS, rig.plan.burst_s))
            pairs.cpu_us.append(usage(pid_of(ours)).since(before).cpu_s / done.requests * 1e6)
            pairs.many.append(Pair(done.rate, raw.insert_for(rig.plan.burst_s)))
            stored = _rate(rig.load, storing, Write("many"), WRITERS, rig.plan.burst_s)
            pairs.many_stored.append(Pair(done.rate, stored))
            if redis is not None:
                pairs.redis.append(
                    Pair(done.rate, _rate(rig.load, redis, StreamAdd(), WRITERS, rig.plan.burst_s))
                )
            batches, batches_stored = (
                BATCH * _rate(rig.load, server, Write("batch", BATCH), BATCHERS, rig.plan.burst_s)
                for server in (socket, storing)
            )
            pairs.batches.append(Pair(batches, raw.insert_many_for(rig.plan.burst_s, BATCH)))
            pairs.batches_stored.append(Pair(batches, batches_stored))
        for caller in callers:
            caller.close()
        raw.close()
    yield from _rows(pairs)


def _rows(pairs: _Pairs) -> Iterator[Result]:
    cpu = f"{median(pairs.cpu_us):.0f} µs of processor time an ack"
    raw_one = "raw sqlite3, INSERT and COMMIT, FULL"
    yield compared(ONE, raw_one, "ms", pairs.one, at_most(2.0))
    yield compared(MANY, raw_one, "/s", pairs.many, at_least(2.0), note=cpu)
    if pairs.redis:
        yield compared(MANY, REDIS, "/s", pairs.redis, at_least(0.5))
    else:
        yield Skipped(MANY, REDIS, "there is no redis-server on this machine (Debian: redis-server)")
    yield compared(BATCHES, "raw sqlite3, executemany of 100, FULL", "/s", pairs.batches, at_least(0.5))
    yield compared(ONE, STORING, "ms", pairs.one_stored, None)
    yield compared(MANY, STORING, "/s", pairs.many_stored, None)
    yield compared(BATCHES, STORING, "/s", pairs.batches_stored, None)


def _rate(load: Generator, socket: str, dialect: Dialect, writers: int, seconds: float) -> float:
    return load.run(Job(socket, dialect, writers, seconds)).rate

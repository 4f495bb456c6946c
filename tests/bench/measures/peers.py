"""The same work done by other queues: 32 writers put messages in durably, then all is handed out."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import stores
from bench.dialects import Write
from bench.load import Job
from bench.rig import Rig, daemon
from bench.rows import Result, Skipped, at_least, compared
from bench.spread import Pair
from bench.texts import TEXTS
from bench.yardsticks.peers import PEERS, Peer
from honchod.outbox.store import Outbox
from honchod.outbox.values import Delivered, Lease, LeaseTerms, Settlement

WRITERS: Final = 32
WHAT: Final = "durable enqueue by 32 writers, then hand-out, messages a second"


@dataclass(frozen=True, slots=True)
class _Work:
    """Rates of both halves, a second."""

    put: float
    take: float

    @property
    def rate(self) -> float:
        """Of the whole: each message goes through both."""
        return 1 / (1 / self.put + 1 / self.take)


def measure(rig: Rig) -> Iterator[Result]:
    """Ours over the socket, each peer in the process that writes: it has no way to be asked from outside."""
    for name, peer in PEERS.items():
        pairs = []
        try:
            for _ in range(max(1, rig.plan.rounds // 5)):
                ours = _ours(rig)
                with rig.scratch() as directory:
                    theirs = _theirs(peer(directory), rig.plan.peer_burst_s)
                pairs.append(Pair(ours.rate, theirs.rate))
        except ImportError:
            yield Skipped(WHAT, name, f"{name} is not installed (pip install -e '.[bench]')")
            continue
        note = f"put {ours.put:.0f} and take {ours.take:.0f}, it {theirs.put:.0f} and {theirs.take:.0f}"
        yield compared(WHAT, name, "/s", pairs, at_least(1.0), note=note)


def _ours(rig: Rig) -> _Work:
    with daemon(paused=True) as process:
        put = rig.load.run(Job(str(process.socket), Write("peers"), WRITERS, rig.plan.peer_burst_s)).rate
        process.stop()
        take = asyncio.run(_hand_out(process.state_dir, rig.plan.peer_burst_s))
    return _Work(put, take)


async def _hand_out(directory: Path, seconds: float) -> float:
    outbox = stores.opened(directory)
    try:
        return await _leases(outbox, seconds)
    finally:
        await outbox.close()


async def _leases(outbox: Outbox, seconds: float) -> float:
    done = 0
    started = time.perf_counter()
    while (elapsed_s := time.perf_counter() - started) < seconds:
        lease = await outbox.lease([stores.HOST], LeaseTerms())
        if not isinstance(lease, Lease):
            break
        delivered = tuple(Delivered(event.id, None) for event in lease.events)
        await outbox.settle(lease, Settlement(0, delivered=delivered))
        done += len(delivered)
    return done / (time.perf_counter() - started if done else elapsed_s)


def _theirs(peer: Peer, seconds: float) -> _Work:
    counts = [0] * WRITERS
    until_s = time.perf_counter() + seconds

    def write(index: int) -> None:
        while time.perf_counter() < until_s:
            peer.put(TEXTS[counts[index] % len(TEXTS)])
            counts[index] += 1

    threads = [threading.Thread(target=write, args=(index,)) for index in range(WRITERS)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    put = sum(counts) / (time.perf_counter() - started)
    started = time.perf_counter()
    taken = 0
    while time.perf_counter() - started < seconds and peer.take():
        taken += 1
    return _Work(put, taken / (time.perf_counter() - started))

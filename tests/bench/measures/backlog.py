"""What a backlog costs the queue itself: taking and settling a batch, with few and with many rows waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from bench import stores
from bench.plan import FEW_WAITING
from bench.rig import Rig
from bench.rows import Result, at_most, compared
from bench.spread import Pair
from honchod.outbox.store import Outbox
from honchod.outbox.values import Delivered, Lease, LeaseTerms, Settlement

TERMS = LeaseTerms(batch_max=10)
"""Small, so that the lanes of the few rows last as long as those of the many."""


def measure(rig: Rig) -> Iterator[Result]:
    """In process, in turn."""
    with rig.scratch() as directory:
        few, many = directory / "few", directory / "many"
        stores.fill(few, FEW_WAITING)
        stores.fill(many, rig.plan.waiting)
        pairs = asyncio.run(_pairs(few, many, rig.plan.batches))
    what = f"lease and settle of a batch, {rig.plan.waiting:,} rows waiting"
    yield compared(what, f"the same with {FEW_WAITING:,}", "ms", pairs, at_most(1.2))


async def _pairs(few: Path, many: Path, batches: int) -> list[Pair]:
    small, large = stores.opened(few), stores.opened(many)
    try:
        for outbox in (small, large):
            await _turn(outbox)
        return [Pair(await _turn(large), await _turn(small)) for _ in range(batches)]
    finally:
        await small.close()
        await large.close()


async def _turn(outbox: Outbox) -> float:
    """Lease a batch and settle it as delivered; the milliseconds it took."""
    started = time.perf_counter()
    lease = await outbox.lease([stores.HOST], TERMS)
    assert isinstance(lease, Lease)
    delivered = tuple(Delivered(event.id, None) for event in lease.events)
    await outbox.settle(lease, Settlement(0, delivered=delivered))
    return (time.perf_counter() - started) * 1000

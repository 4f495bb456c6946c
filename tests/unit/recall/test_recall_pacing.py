"""The pacer that recall shares with delivery: one rate for both, and recall goes first."""

from __future__ import annotations

import asyncio
import time

from honchod.clock import SystemClock
from honchod.gateway.pacing import Pacer, urgent

RATE = 50.0


def run(rate: float, *, ordinary: int, urgents: int, cancelled: int = 0) -> tuple[list[str], float]:
    """The order in which so many requests went out, and the seconds it took."""

    async def main() -> tuple[list[str], float]:
        pacer = Pacer(lambda: rate, SystemClock())
        order: list[str] = []

        async def go(name: str) -> None:
            await pacer.turn()
            order.append(name)

        async def go_first(name: str) -> None:
            with urgent():
                await go(name)

        began = time.monotonic()
        waiting = [asyncio.create_task(go(f"o{number}")) for number in range(ordinary)]
        await asyncio.sleep(0)
        for task in waiting[1 : 1 + cancelled]:
            task.cancel()
        waiting += [asyncio.create_task(go_first(f"u{number}")) for number in range(urgents)]
        await asyncio.gather(*waiting, return_exceptions=True)
        return order, time.monotonic() - began

    return asyncio.run(main())


def test_requests_go_out_in_order_and_no_faster_than_the_rate() -> None:
    order, elapsed_s = run(RATE, ordinary=6, urgents=0)
    assert order == [f"o{number}" for number in range(6)]
    assert elapsed_s >= 5 / RATE


def test_urgent_requests_take_the_next_slots_however_many_wait() -> None:
    order, elapsed_s = run(RATE, ordinary=6, urgents=2)
    assert order == ["o0", "u0", "u1", *(f"o{number}" for number in range(1, 6))]
    assert elapsed_s >= 7 / RATE


def test_who_gave_up_waiting_takes_no_slot() -> None:
    rate = 4.0
    order, elapsed_s = run(rate, ordinary=6, urgents=0, cancelled=4)
    assert order == ["o0", "o5"]
    assert elapsed_s < 5 / rate


def test_without_a_rate_nobody_waits() -> None:
    order, _ = run(0.0, ordinary=100, urgents=1)
    assert len(order) == 101


def test_a_rate_that_is_lifted_lets_everybody_go() -> None:
    async def main() -> None:
        rates = [1000.0]
        pacer = Pacer(lambda: rates[0], SystemClock())
        waiting = [asyncio.create_task(pacer.turn()) for _ in range(20)]
        await asyncio.sleep(0)
        rates[0] = 0.0
        async with asyncio.timeout(2):
            await asyncio.gather(*waiting)
            await pacer.turn()

    asyncio.run(main())


def test_alone_after_a_pause_nobody_waits() -> None:
    async def main() -> float:
        pacer = Pacer(lambda: 10.0, SystemClock())
        await pacer.turn()
        await asyncio.sleep(0.12)
        began = time.monotonic()
        await pacer.turn()
        return time.monotonic() - began

    assert asyncio.run(main()) < 0.09

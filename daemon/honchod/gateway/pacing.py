"""At most so many requests a second to one destination, shared by all that call it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from honchod.clock import Clock

_urgent: ContextVar[bool] = ContextVar("honchod_urgent", default=False)


@contextmanager
def urgent() -> Iterator[None]:
    """Requests that are made in here go before those that wait elsewhere: somebody waits for the answer."""
    token = _urgent.set(True)
    try:
        yield
    finally:
        _urgent.reset(token)


class Pacer:
    """Spreads requests evenly: each waits for a slot. ``rate`` is requests per second; 0: no limit.

    Urgent requests take the next slot, however many others wait.
    """

    def __init__(self, rate: Callable[[], float], clock: Clock) -> None:
        self._rate = rate
        self._clock = clock
        self._free_at_s = 0.0
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._ordinary: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def turn(self) -> None:
        """Return when the next request may go out."""
        rate = self._rate()
        now_s = self._clock.monotonic_s()
        if rate <= 0 and self._timer is None:
            return
        if self._timer is None and now_s >= self._free_at_s:
            self._free_at_s = now_s + 1.0 / rate
            return
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._urgent if _urgent.get() else self._ordinary).append(slot)
        self._arm(now_s)
        await slot

    def _arm(self, now_s: float) -> None:
        if self._timer is None:
            wait_s = max(0.0, self._free_at_s - now_s)
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._grant)

    def _grant(self) -> None:
        """A slot is free: it goes to whoever is first among the urgent, else among the others."""
        self._timer = None
        slot = self._next()
        if slot is None:
            return
        slot.set_result(None)
        rate = self._rate()
        now_s = self._clock.monotonic_s()
        self._free_at_s = now_s + 1.0 / rate if rate > 0 else now_s
        if self._urgent or self._ordinary:
            self._arm(now_s)

    def _next(self) -> asyncio.Future[None] | None:
        for waiting in (self._urgent, self._ordinary):
            while waiting:
                slot = waiting.popleft()
                if not slot.done():
                    return slot
        return None

"""At most so many requests a second to one destination, shared by all that call it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from honchod.clock import Clock


class Pacer:
    """Spreads requests evenly: each waits for its own slot. ``rate`` is requests per second; 0: no limit."""

    def __init__(self, rate: Callable[[], float], clock: Clock) -> None:
        self._rate = rate
        self._clock = clock
        self._next_s = 0.0

    async def turn(self) -> None:
        """Return when the next request may go out."""
        rate = self._rate()
        if rate <= 0:
            return
        now = self._clock.monotonic_s()
        at = max(now, self._next_s)
        self._next_s = at + 1.0 / rate
        if at > now:
            await asyncio.sleep(at - now)

"""An event loop in virtual time: it jumps to the next timer when nobody is at work.

The writer and the readers of an outbox work in threads; while one of them has something to do, the loop
waits for it and time stands still. So a scenario of hours takes milliseconds, and what happens depends on
the script alone, not on the machine.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from typing import Any

ANSWER_S = 0.05
"""Real seconds that callbacks which could run wait for a thread's answer, which may be among them already."""
ROUNDS_LIMIT = 20_000
"""Turns of the loop after which something goes round in circles."""
BUSY_LIMIT_S = 30.0
"""Real seconds after which a thread that does not come back is a fault of the test."""


class _VirtualSelector(selectors.DefaultSelector):
    """Where asyncio would sleep, virtual time passes instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.busy: Callable[[], bool] = lambda: False
        self.real = False
        self.rounds = 0

    def select(self, timeout: float | None = None) -> list[Any]:
        if self.real:
            return super().select(timeout)
        self.rounds += 1
        assert self.rounds < ROUNDS_LIMIT, "the loop is busy for ever while time stands still"
        if self.busy():
            # Its answer comes before anything else is done, so that a run can be repeated.
            ready = super().select(BUSY_LIMIT_S if timeout != 0 else ANSWER_S)
            assert ready or timeout == 0, "a thread of the outbox hangs"
            return ready
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        assert timeout is not None, "nothing will ever happen again"
        self.now_s += max(timeout, 1e-6)
        self.rounds = 0
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time begins at 0 and passes only when everybody waits."""

    def __init__(self) -> None:
        self._virtual = _VirtualSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now_s

    def stand_still_while(self, busy: Callable[[], bool]) -> None:
        """Let no time pass while ``busy()``."""
        self._virtual.busy = busy
        self._virtual.real = False

    def be_real(self) -> None:
        """Wait as other loops do, for threads that nobody watches."""
        self._virtual.real = True


class VirtualClock:
    """The clocks of the machine in virtual time. The wall clock can be made to jump."""

    def __init__(self, loop: VirtualLoop, start_ms: int) -> None:
        self._loop = loop
        self._offset_ms = start_ms

    def now_ms(self) -> int:
        return self._offset_ms + int(self._loop.time() * 1000)

    def monotonic_s(self) -> float:
        return self._loop.time()

    def jump(self, ms: int) -> None:
        """Set the wall clock forward, or back."""
        self._offset_ms += ms

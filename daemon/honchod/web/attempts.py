"""How often a login may be tried."""

from __future__ import annotations

from typing import Final

BURST: Final = 10
REFILL_S: Final = 6.0
"""One more try each."""


class Attempts:
    """A bucket of tries for everybody together: on loopback all callers have the same address."""

    def __init__(self) -> None:
        self._left = float(BURST)
        self._at_s: float | None = None

    def wait_s(self, now_s: float) -> float:
        """Take one try: 0.0 when there was one, else the seconds until the next. ``now_s`` is monotonic."""
        if self._at_s is not None:
            self._left = min(BURST, self._left + (now_s - self._at_s) / REFILL_S)
        self._at_s = now_s
        if self._left < 1:
            return (1 - self._left) * REFILL_S
        self._left -= 1
        return 0.0

    def forgive(self) -> None:
        """A try that was right costs nothing."""
        self._left = min(BURST, self._left + 1)

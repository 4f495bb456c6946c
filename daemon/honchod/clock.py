"""Time, as an argument: the wall clock for what is written down, the monotonic one for waiting."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    """What decides and what waits gets its time from one of these."""

    def now_ms(self) -> int:
        """Wall clock, milliseconds since 1970, UTC. It may jump."""

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start. It never goes back."""


class SystemClock:
    """The machine's clocks."""

    def now_ms(self) -> int:
        """Wall clock, milliseconds since 1970, UTC."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()


def rfc3339(at_ms: int) -> str:
    """A time as it stands on the wire: ``2026-03-02T09:00:00.000Z``."""
    at = _EPOCH + timedelta(milliseconds=at_ms)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

"""Identifiers that the daemon makes."""

from __future__ import annotations

import threading
import time
from random import Random
from typing import Final

_COUNTER_BITS: Final = 12
_lock = threading.Lock()
_random = Random()  # noqa: S311 (seeded by the kernel; these ids are unique, not secret)
_last = 0


def uuid7() -> str:
    """A UUID version 7 (RFC 9562): unique across daemons and time, and ordered within this process.

    The 12 bits after the milliseconds count on within one millisecond, so that two of them made in a row
    compare in the order in which they were made, even when the wall clock stands still or goes back.
    """
    global _last
    with _lock:
        _last = max(_last + 1, (time.time_ns() // 1_000_000) << _COUNTER_BITS)
        stamp = _last
    high = (stamp >> _COUNTER_BITS) << 16 | 0x7 << 12 | stamp & 0xFFF
    low = 0b10 << 62 | _random.getrandbits(62)
    digits = f"{high:016x}{low:016x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

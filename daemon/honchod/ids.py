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
_head_ms = -1
_head = _tail = ""


def uuid7() -> str:
    """A UUID version 7 (RFC 9562): unique across daemons and time, and ordered within this process.

    The 12 bits after the milliseconds count on within one millisecond, so that two of them made in a row
    compare in the order in which they were made, even when the wall clock stands still or goes back. The 62
    random bits, which tell daemons apart, are drawn anew with every millisecond.
    """
    global _last, _head_ms, _head, _tail
    with _lock:
        now = time.time_ns() // 1_000_000 << _COUNTER_BITS
        _last = stamp = now if now > _last else _last + 1
        if stamp >> _COUNTER_BITS != _head_ms:
            _head_ms = stamp >> _COUNTER_BITS
            digits = f"{_head_ms:012x}"
            _head = f"{digits[:8]}-{digits[8:]}-7"
            digits = f"{0b10 << 62 | _random.getrandbits(62):x}"
            _tail = f"-{digits[:4]}-{digits[4:]}"
        return f"{_head}{stamp & 0xFFF:03x}{_tail}"

"""Ids for messages whose caller gave none."""

from __future__ import annotations

import os
import time


def new_id() -> str:
    """A fresh UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then random bits.

    Made by hand because importing ``uuid`` costs as much as the rest of this package.
    """
    stamp_ms = time.time_ns() // 1_000_000
    random_bits = int.from_bytes(os.urandom(10), "big")
    rand_a = random_bits >> 68
    rand_b = random_bits & ((1 << 62) - 1)
    value = stamp_ms << 80 | 0x7 << 76 | rand_a << 64 | 0b10 << 62 | rand_b
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

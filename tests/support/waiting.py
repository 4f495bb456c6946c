"""Waiting on conditions, never on time alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 4 if os.environ.get("HONCHOD_LIVE_URL") else 1
"""How many times as long a real server may take for what the sandbox does at once."""


def wait_until(condition: Callable[[], T], what: str | Callable[[], str], *, timeout_s: float = 30.0) -> T:
    """Ask again and again until the answer is true; fail with ``what``, as it is then, when it never is."""
    timeout_s *= PATIENCE
    began = time.monotonic()
    deadline = began + timeout_s
    last: BaseException | None = None
    while time.monotonic() < deadline:
        try:
            if answer := condition():
                return answer
            last = None
        except Exception as error:
            last = error
        # To ask is work for the daemon too: what takes long is asked for less often.
        time.sleep(min(0.05, max(0.02, (time.monotonic() - began) / 20)))
    text = what if isinstance(what, str) else what()
    raise AssertionError(f"waited {timeout_s} s for: {text}") from last

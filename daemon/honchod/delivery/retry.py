"""When to try again: exponential backoff with full jitter, computed by tenacity, kept in the database.

tenacity's wait objects are used as calculators only. Nothing here sleeps: the schedule is a ``due_at``.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tenacity import RetryCallState, wait_exponential

from honchod.outbox.recovery import USUAL_WAITS, SuspectWaits

REFUSED_MINUTES: Final = (1, 2, 4, 8, 15)
"""How long a refused key waits before it is tried again, by the number of refusals in a row."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The ``[delivery]`` settings that decide when and how often."""

    backoff_base_s: float = 1.0
    backoff_cap_s: float = 300.0
    retry_after_cap_s: float = 3600.0
    settle_delay_s: float = 15.0
    max_attempts: int = 8

    @property
    def settle_delay_ms(self) -> int:
        """How long after it was sent an attempt may still land."""
        return int(self.settle_delay_s * 1000)

    @property
    def suspect_waits(self) -> SuspectWaits:
        """How long a lane waits that may have killed the daemon: a minute at first and an hour at last; less
        where no backoff is as long as usual.
        """
        cap_ms = int(self.backoff_cap_s * 1000)
        return SuspectWaits(
            min(USUAL_WAITS.base_ms, max(1, cap_ms // 5)), min(USUAL_WAITS.cap_ms, cap_ms * 12)
        )

    @property
    def longest_wait_ms(self) -> int:
        """No wait is ever longer than this: what is due later was scheduled by a clock that was wrong."""
        longest_s = max(self.backoff_cap_s, self.retry_after_cap_s, REFUSED_MINUTES[-1] * 60, 3600.0)
        return int((longest_s + self.settle_delay_s) * 1000)


def ceiling_s(failures: int, policy: Policy) -> float:
    """The longest backoff after so many failures in a row (1 or more): base x 2^(n-1), capped."""
    state: Any = RetryCallState(retry_object=None, fn=None, args=(), kwargs={})  # type: ignore[arg-type]
    state.attempt_number = max(1, failures)
    return float(wait_exponential(multiplier=policy.backoff_base_s, max=policy.backoff_cap_s)(state))


def backoff_s(failures: int, policy: Policy, random: Random) -> float:
    """Seconds to wait after so many failures in a row: anything up to the ceiling (full jitter)."""
    return random.uniform(0.0, ceiling_s(failures, policy))


def throttle_s(retry_after_s: float | None, failures: int, policy: Policy, random: Random) -> float:
    """Seconds a throttled destination waits: what it asked for, capped, and no less than a backoff."""
    backoff = backoff_s(failures, policy, random)
    if retry_after_s is None:
        return backoff
    return max(backoff, min(retry_after_s, policy.retry_after_cap_s))


def refused_s(refusals: int) -> float:
    """Seconds until a refused key is tried again."""
    return REFUSED_MINUTES[min(max(refusals, 1), len(REFUSED_MINUTES)) - 1] * 60.0

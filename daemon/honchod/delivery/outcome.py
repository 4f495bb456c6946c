"""From a failed call to exactly one outcome. Pure: the table in the design is this function.

============  ===================================================  ==============================
outcome       when                                                 what it means
============  ===================================================  ==============================
throttled     429; 503 with Retry-After                            the whole destination waits
unreachable   never left; 503 without Retry-After                  the destination backs off
unknown       timeout, cut, 500, 502, 504, 408, 409, not Honcho    look before sending again
refused       401, 403                                             the key is not accepted
rejected      400, 413, 422 on the messages themselves             one of them is bad
misdirected   404, 405, 3xx, other 4xx; any rejection of setup     wrong address or stale setup
============  ===================================================  ==============================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final

from honchod.errors import CallFailed, CallReason


class Step(StrEnum):
    """What was being done when a call failed."""

    LOOK = "look"
    PREPARE = "prepare"
    SEND = "send"


class Outcome(StrEnum):
    """What became of a delivery."""

    DELIVERED = "delivered"
    THROTTLED = "throttled"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    REJECTED = "rejected"
    MISDIRECTED = "misdirected"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one failed call.

    ``landed`` is "maybe" (true) when the batch may be stored all the same. ``over`` says that the server's
    work on it has ended, so that one can look at once. ``answered`` says that whatever sits at the address
    gave an answer of its own, however unwelcome.
    """

    outcome: Outcome
    code: str
    status: int | None
    landed: bool = False
    over: bool = False
    answered: bool = True
    retry_after_s: float | None = None


_REFUSED: Final = frozenset({401, 403})
_REJECTED: Final = frozenset({400, 413, 422})
_UNKNOWN: Final = frozenset({408, 409})
_PROXY: Final = frozenset({502, 504})


def judge(failure: CallFailed, step: Step, *, now_ms: int) -> Verdict:
    """The one outcome of a failed call. ``now_ms`` (wall clock) reads a Retry-After that is a date."""
    sending = step is Step.SEND
    code = failure.code
    if failure.reason is CallReason.STATUS:
        return _judge_status(failure, sending, now_ms)
    if failure.reason is CallReason.UNREACHABLE:
        return Verdict(Outcome.UNREACHABLE, code, None, answered=False)
    if failure.reason is CallReason.LOCAL:
        return Verdict(Outcome.REJECTED if sending else Outcome.MISDIRECTED, code, None)
    answered = failure.reason is CallReason.EMPTY
    return Verdict(Outcome.UNKNOWN, code, failure.status or None, landed=sending, answered=answered)


def _judge_status(failure: CallFailed, sending: bool, now_ms: int) -> Verdict:
    status, code = failure.status, failure.code
    if status == 429:
        wait = retry_after_s(failure.retry_after, now_ms=now_ms)
        return Verdict(Outcome.THROTTLED, code, status, retry_after_s=wait)
    if status == 503:
        wait = retry_after_s(failure.retry_after, now_ms=now_ms)
        if wait is not None:
            return Verdict(Outcome.THROTTLED, code, status, landed=sending, retry_after_s=wait)
        return Verdict(Outcome.UNREACHABLE, code, status, landed=sending, answered=False)
    if status in _REFUSED:
        return Verdict(Outcome.REFUSED, code, status)
    if status in _REJECTED:
        return Verdict(Outcome.REJECTED if sending else Outcome.MISDIRECTED, code, status)
    if status in _UNKNOWN or status >= 500:
        return Verdict(
            Outcome.UNKNOWN,
            code,
            status,
            landed=sending,
            over=status == 500,
            answered=status not in _PROXY,
        )
    return Verdict(Outcome.MISDIRECTED, code, status)


def retry_after_s(header: str | None, *, now_ms: int) -> float | None:
    """Seconds to wait by a Retry-After header: a number or an HTTP date (RFC 9110, 10.2.3).

    None when it is absent, negative, in the past or unreadable.
    """
    if header is None:
        return None
    text = header.strip()
    try:
        wait = float(text)
    except ValueError:
        try:
            at = parsedate_to_datetime(text)
        except (ValueError, TypeError, OverflowError):
            return None
        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        wait = at.timestamp() - now_ms / 1000
    return wait if math.isfinite(wait) and wait >= 0 else None

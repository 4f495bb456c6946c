"""How good a recalled answer is, and when to look whether a better one can be had. Pure.

::

    nothing held ──▶ cold          a refresh is on its way, or nobody has asked yet
                 └─▶ unavailable   the last attempt failed, or none can be made
    something    ──▶ fresh         younger than the TTL, and Honcho has learned nothing since
                 ├─▶ empty         the same, and Honcho knows nothing
                 └─▶ stale         older, or outdated, or the last refresh failed
    not wanted   ──▶ off           the host injects nothing here
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec


class RecallStatus(StrEnum):
    """What a recall is worth."""

    FRESH = "fresh"
    STALE = "stale"
    COLD = "cold"
    EMPTY = "empty"
    UNAVAILABLE = "unavailable"
    OFF = "off"


class Held(msgspec.Struct, frozen=True):
    """An answer that is held: its age, whether Honcho has learned something since (``old``), whether the
    last attempt to refresh it failed, and whether it says that nothing is known.
    """

    age_s: float
    old: bool
    failed: bool
    empty: bool


def is_fresh(held: Held | None, ttl_s: float) -> bool:
    """Whether it need not be refreshed."""
    return held is not None and held.age_s <= ttl_s and not held.old and not held.failed


def judge(held: Held | None, *, ttl_s: float, failing: bool) -> RecallStatus:
    """The status of what is held. ``failing``: the last attempt failed, or none can be made now.

    A failure is never shown as empty, and what is empty is never shown as failed.
    """
    if held is None:
        return RecallStatus.UNAVAILABLE if failing else RecallStatus.COLD
    if not is_fresh(held, ttl_s):
        return RecallStatus.STALE
    return RecallStatus.EMPTY if held.empty else RecallStatus.FRESH


_HELD: Final = frozenset({RecallStatus.FRESH, RecallStatus.STALE, RecallStatus.EMPTY})


def combined(view: RecallStatus, own: RecallStatus | None, found: RecallStatus | None) -> RecallStatus:
    """The status of a whole: the view of the user, beside it what the AI knows of ``own`` self and what was
    ``found`` for a query (None: not wanted).

    It is empty only if every answer is, and fresh only if none in it is stale. That nothing was found for a
    query yet is told by ``query_matched``, not by the status.
    """
    if view not in _HELD and found in _HELD and found is not None:
        view = found
    beside = {status for status in (own, found) if status in _HELD}
    if RecallStatus.STALE in beside and view in _HELD:
        return RecallStatus.STALE
    if view is not RecallStatus.EMPTY:
        return view
    if RecallStatus.FRESH in beside:
        return RecallStatus.FRESH
    return own if own is not None else view


FIRST_POLL_S: Final = 1.0
"""Honcho queues what is to be derived after it has answered: looking at once would see nothing to do."""
POLL_GROWTH: Final = 1.6
LONGEST_POLL_S: Final = 60.0
POLLS_MAX: Final = 45
"""With the growth above, over half an hour: by default Honcho lets a small piece of work wait that long."""


def poll_in_s(polls: int) -> float | None:
    """Seconds until the queue of a session is looked at again, after so many looks; None: never again."""
    if polls >= POLLS_MAX:
        return None
    return min(LONGEST_POLL_S, FIRST_POLL_S * POLL_GROWTH**polls)


@dataclass(frozen=True, slots=True)
class QueueSeen:
    """A session's derivation queue: pieces of work done, and those that are not."""

    completed: int
    waiting: int


def has_learned(before: QueueSeen | None, now: QueueSeen) -> bool:
    """Whether Honcho derived something between two looks; at the first, whether nothing is left to do."""
    if before is None:
        return now.waiting == 0
    return now.completed > before.completed or (now.waiting == 0 and before.waiting > 0)

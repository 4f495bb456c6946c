"""Finding the bad event of a batch by halving. Pure.

A rejected batch is halved until the bad event is alone; its neighbours are delivered in order on the way. A
batch of 100 with one bad event costs about ten requests, not a hundred.
"""

from __future__ import annotations

from collections.abc import Sequence

from honchod.outbox.values import Bisect, LeasedEvent


def narrowed(batch: Sequence[LeasedEvent]) -> Bisect | None:
    """After a batch failed as a whole: look in its first half. None when the bad event is alone."""
    if len(batch) <= 1:
        return None
    return Bisect(last=batch[-1].id, limit=len(batch) // 2)


def passed(bisect: Bisect | None, batch: Sequence[LeasedEvent]) -> Bisect | None:
    """After a part went through: the bad event is in the rest. None once the range is behind us."""
    if bisect is None or (batch and batch[-1].id >= bisect.last):
        return None
    return Bisect(last=bisect.last, limit=max(1, bisect.limit // 2))

"""What an unknown attempt costs once its destination is proven healthy. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from honchod.delivery import bisect
from honchod.outbox.values import Bisect, Died, LeasedEvent

BISECT_AFTER = 2
"""A batch charged this often is halved: a single message can make a server answer 500 for ever."""


@dataclass(frozen=True, slots=True)
class Charged:
    """``send`` is what to try now, ``bisect`` how to go on if it fails or passes."""

    event_ids: tuple[int, ...]
    died: tuple[Died, ...]
    send: tuple[LeasedEvent, ...]
    bisect: Bisect | None


def charge(missing: Sequence[LeasedEvent], present: Bisect | None, *, max_attempts: int) -> Charged:
    """Charge each event of a failed batch one attempt.

    An event dies of exhaustion only when it was alone: in company it may be innocent, and is halved out of
    it first. Company costs it no more than what starts the halving, so that most of its attempts are its own.
    """
    alone = len(missing) == 1
    ids = tuple(event.id for event in missing if alone or event.attempts < BISECT_AFTER)
    counted = tuple(
        replace(event, attempts=event.attempts + 1) if event.id in ids else event for event in missing
    )
    if len(counted) == 1 and counted[0].attempts >= max_attempts:
        return Charged(ids, (Died(counted[0].id, "exhausted"),), (), None)
    worst = max((event.attempts for event in counted), default=0)
    if len(counted) > 1 and worst >= min(BISECT_AFTER, max_attempts):
        narrowed = bisect.narrowed(counted)
        assert narrowed is not None
        return Charged(ids, (), counted[: narrowed.limit], narrowed)
    return Charged(ids, (), counted, present)

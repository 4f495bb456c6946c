"""Answers of the dialectic that were fetched ahead of the turn that uses them: each is used once."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from honchod.outbox.values import LaneKey
from honchod.recall.reasoning import is_outlived

KEPT: Final = 2_000


@dataclass(frozen=True, slots=True)
class Supplement:
    """One answer: the turn it was fetched after, when (monotonic), and the digest of the query that it
    answers ("" for none: it suits any).
    """

    text: str
    made_at_turn: int
    made_at_s: float
    query: str = ""


class Supplements:
    """At most one answer for each session; a new generation is another session, and begins without."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[LaneKey, Supplement] = OrderedDict()

    def put(self, lane: LaneKey, supplement: Supplement) -> None:
        """Keep an answer for the next recall, in place of the one before."""
        self._waiting[lane] = supplement
        self._waiting.move_to_end(lane)
        if len(self._waiting) > KEPT:
            self._waiting.popitem(last=False)

    def take(self, lane: LaneKey, query: str, *, turns: int, cadence: int, peek: bool) -> Supplement | None:
        """The answer that suits this query, if there is one; it is gone then, unless this is a ``peek``.

        One that has outlived its cadence is dropped.
        """
        waiting = self._waiting.get(lane)
        if waiting is None:
            return None
        if is_outlived(waiting.made_at_turn, turns, cadence):
            del self._waiting[lane]
            return None
        if waiting.query not in ("", query):
            return None
        if not peek:
            del self._waiting[lane]
        return waiting

    def has(self, lane: LaneKey) -> bool:
        """Whether one waits."""
        return lane in self._waiting

    def clear(self) -> int:
        """Forget them all. Returns how many there were."""
        count = len(self._waiting)
        self._waiting.clear()
        return count

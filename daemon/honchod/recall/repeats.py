"""Recalls that come again while nothing has changed: most do.

What was answered holds for as long as what it is made of: the same answers of Honcho, still fresh, in the
same turn of the same generation, and no answer of the dialectic that waits. Its age and its receipt are new.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import msgspec

from honchod.clock import Clock
from honchod.identity.place import Place
from honchod.outbox.cache import CacheKey
from honchod.outbox.turns import TurnRow
from honchod.outbox.values import LaneKey
from honchod.recall.cache import Cache, Entry
from honchod.recall.freshness import is_fresh
from honchod.recall.receipts import Recalled, Receipts
from honchod.recall.requests import RecallAnswer, RecallRequest
from honchod.recall.supplements import Supplements
from honchod.recall.turns import Turns

REMEMBERED: Final = 256


class Given(msgspec.Struct, frozen=True):
    """An answer that was given at ``at_s`` (monotonic), and what it is made of."""

    place: Place
    lane: LaneKey
    turn: TurnRow | None
    entries: tuple[tuple[CacheKey, Entry], ...]
    answer: RecallAnswer
    recalled: Recalled
    at_s: float

    @property
    def oldest_fetched_s(self) -> float:
        """When the oldest of ``entries`` was fetched (monotonic)."""
        return min([entry.fetched_at_s for _, entry in self.entries])


def may_repeat(request: RecallRequest) -> bool:
    """Whether the request says all that its answer depends on: nothing has to be looked up or waited for."""
    return (
        request.session is not None
        and request.locator is None
        and request.sections is None
        and request.wait_ms == 0
    )


class Repeats:
    """The last answers, by their requests. `clear` when hosts, routes or settings change."""

    def __init__(
        self,
        cache: Cache,
        turns: Turns,
        supplements: Supplements,
        receipts: Receipts,
        *,
        is_current: Callable[[Place], bool],
        clock: Clock,
    ) -> None:
        """``is_current``: whether this is still the session's generation."""
        self._cache = cache
        self._turns = turns
        self._supplements = supplements
        self._receipts = receipts
        self._is_current = is_current
        self._clock = clock
        self._given: OrderedDict[RecallRequest, Given] = OrderedDict()

    def clear(self) -> None:
        """Forget them all."""
        self._given.clear()

    def remember(self, request: RecallRequest, given: Given) -> None:
        """Keep what was answered, fresh and from the cache alone."""
        self._given[request] = given
        self._given.move_to_end(request)
        if len(self._given) > REMEMBERED:
            self._given.popitem(last=False)

    def answer(self, request: RecallRequest, ttl_s: float) -> RecallAnswer | None:
        """The answer once more, if it still holds."""
        given = self._given.get(request) if may_repeat(request) else None
        if given is None:
            return None
        now_s = self._clock.monotonic_s()
        if not self._holds(given, now_s, ttl_s):
            del self._given[request]
            return None
        for key, _ in given.entries:
            self._cache.use(key)
        receipt = self._receipts.write(
            given.place, given.recalled, started_s=now_s, older_by_s=now_s - given.at_s
        )
        return msgspec.structs.replace(
            given.answer, age_s=round(now_s - given.oldest_fetched_s, 1), receipt=receipt
        )

    def _holds(self, given: Given, now_s: float, ttl_s: float) -> bool:
        return (
            self._is_current(given.place)
            and self._turns.row(given.lane) is given.turn
            and not self._supplements.has(given.lane)
            and all(
                self._cache.get(key) is entry and is_fresh(entry.held(now_s), ttl_s)
                for key, entry in given.entries
            )
        )

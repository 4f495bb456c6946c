"""Answering a recall: from memory, at once; the network is only ever behind it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import msgspec

from honchod.clock import Clock
from honchod.delivery.routes import Route
from honchod.identity.choices import Section
from honchod.identity.place import Place
from honchod.outbox.cache import CacheKey
from honchod.outbox.values import LaneKey
from honchod.recall import encoding
from honchod.recall.assemble import CHARS_PER_TOKEN, assemble
from honchod.recall.cache import Cache
from honchod.recall.freshness import Held, RecallStatus, combined, is_fresh, judge
from honchod.recall.injection import OffReason, injection
from honchod.recall.look import Look, lane_of, look_at
from honchod.recall.merge import merged
from honchod.recall.parts import Parts
from honchod.recall.prefetch import Prefetcher
from honchod.recall.queries import Prompt
from honchod.recall.receipts import Recalled, Receipts
from honchod.recall.repeats import Given, Repeats, may_repeat
from honchod.recall.requests import RecallAnswer, RecallRequest, SectionTexts
from honchod.recall.showing import show
from honchod.recall.supplements import Supplement, Supplements
from honchod.recall.turns import Turns
from honchod.recall.upstream import Upstream

_REMEMBERED: Final = 128
"""The sections of so many blocks."""

_KNOWN: Final = frozenset({RecallStatus.FRESH, RecallStatus.STALE, RecallStatus.EMPTY})
"""Honcho has answered: only then can it be said that nothing is known."""


@dataclass(slots=True)
class Tally:
    """Recalls since the start: answered fresh, from nothing, with something old."""

    hits: int = 0
    misses: int = 0
    stale: int = 0

    def count(self, status: RecallStatus) -> None:
        """One more recall with this status."""
        match status:
            case RecallStatus.STALE:
                self.stale += 1
            case RecallStatus.FRESH | RecallStatus.EMPTY:
                self.hits += 1
            case _:
                self.misses += 1


class _Asked(msgspec.Struct, frozen=True):
    """One recall on its way."""

    place: Place
    look: Look
    route: Route
    sections: frozenset[Section]
    prompt: Prompt
    tokens: int | None
    peek: bool
    started_s: float
    lane: LaneKey
    is_first_turn: bool


class Answering:
    """Answers recalls from the cache, and asks Honcho for what is missing there."""

    def __init__(
        self,
        cache: Cache,
        upstream: Upstream,
        prefetcher: Prefetcher,
        turns: Turns,
        supplements: Supplements,
        receipts: Receipts,
        repeats: Repeats,
        *,
        ttl_s: float,
        clock: Clock,
    ) -> None:
        self._cache = cache
        self._upstream = upstream
        self._prefetcher = prefetcher
        self._turns = turns
        self._supplements = supplements
        self._receipts = receipts
        self._repeats = repeats
        self.ttl_s = ttl_s
        self._clock = clock
        self.tally = Tally()

    def forget(self) -> None:
        """Drop the blocks that are remembered ready-made."""
        assemble.cache_clear()
        merged.cache_clear()
        _texts.cache_clear()
        encoding.forget()
        self._repeats.clear()

    def again(self, request: RecallRequest) -> RecallAnswer | None:
        """The answer to a recall that was answered a moment ago, if nothing has changed since."""
        answer = self._repeats.answer(request, self.ttl_s)
        if answer is not None:
            self.tally.count(answer.status)
        return answer

    async def recall(
        self, request: RecallRequest, place: Place, route: Route | None, prompt: Prompt
    ) -> RecallAnswer:
        """The answer to a recall. Without ``wait_ms`` it does not wait for anything."""
        started_s = self._clock.monotonic_s()
        lane = lane_of(place)
        turns = self._turns.of(lane).turns
        injected = injection(place.host, request.sections, turns=turns)
        if injected.off is not None or route is None:
            return self._off(place, injected.off or OffReason.DISABLED, started_s)
        tokens = request.tokens or place.host.recall.context_tokens
        asked = _Asked(
            place=place,
            look=look_at(
                place,
                route,
                target=self._prefetcher.target(place),
                sections=injected.sections,
                tokens=tokens,
                asked=prompt.asked,
            ),
            route=route,
            sections=injected.sections,
            prompt=prompt,
            tokens=tokens,
            peek=request.peek,
            started_s=started_s,
            lane=lane,
            is_first_turn=turns == 0,
        )
        calls = await self._refresh(asked, wait_ms=request.wait_ms)
        supplement = self._take(asked)
        if turns > 0 and supplement is None and not asked.look.keys:
            return self._off(place, OffReason.FIRST_TURN, started_s)
        return self._answer(request, asked, supplement, calls)

    async def _refresh(self, asked: _Asked, *, wait_ms: int) -> int:
        """Ask for what is not fresh, and wait for it as long as the caller said. Returns the calls begun.

        The first recall of a session also waits for what its start has the dialectic think about.
        """
        if asked.prompt.trivial:
            return 0
        calls = 0
        waiting: list[asyncio.Task[None]] = []
        now_s = self._clock.monotonic_s()
        for key in asked.look.keys:
            if is_fresh(self._held(key, now_s), self.ttl_s):
                continue
            flight, began = self._upstream.refresh(asked.route, key, asked.look.query if key.query else None)
            calls += began
            if flight is not None:
                waiting.append(flight)
        train = self._prefetcher.train_of(asked.lane) if asked.is_first_turn else None
        if train is not None:
            waiting.append(train)
        if waiting and wait_ms:
            await asyncio.wait(waiting, timeout=wait_ms / 1000)
        return calls

    def _take(self, asked: _Asked) -> Supplement | None:
        if Section.DIALECTIC not in asked.sections:
            return None
        return self._supplements.take(
            asked.lane,
            "" if asked.prompt.asked is None else asked.prompt.asked.digest,
            turns=self._turns.of(asked.lane).turns,
            cadence=asked.place.host.dialectic.cadence,
            peek=asked.peek,
        )

    def _answer(
        self, request: RecallRequest, asked: _Asked, supplement: Supplement | None, calls: int
    ) -> RecallAnswer:
        now_s = self._clock.monotonic_s()
        look = asked.look
        found = self._cache.get(look.found)
        shown = show(self._cache.get(look.view), self._cache.get(look.own), found, supplement, now_s=now_s)
        for key in look.keys:
            self._cache.use(key)
        status = self._status(asked, now_s, has_supplement=supplement is not None)
        self.tally.count(status)
        block = assemble(
            shown.parts,
            asked.sections,
            None if asked.tokens is None else asked.tokens * CHARS_PER_TOKEN,
            introduce=status in _KNOWN,
        )
        is_matched = not asked.prompt.withheld and (asked.prompt.asked is None or found is not None)
        recalled = Recalled(
            status,
            has_query=asked.prompt.asked is not None,
            query_matched=is_matched,
            ages_s={section: shown.ages_s[section] for section, _ in block.parts.present()},
            truncated=block.truncated,
            chars=len(block.text),
            calls=calls,
        )
        answer = RecallAnswer(
            status=status,
            age_s=None if shown.oldest_s is None else round(shown.oldest_s, 1),
            query_matched=is_matched,
            approx_tokens=block.approx_tokens,
            text=block.text,
            sections=_texts(block.parts),
            truncated=list(block.truncated),
            receipt=self._receipts.write(asked.place, recalled, started_s=asked.started_s),
        )
        if status is RecallStatus.FRESH and supplement is None and may_repeat(request):
            self._remember(request, asked, answer, recalled, now_s)
        return answer

    def _remember(
        self, request: RecallRequest, asked: _Asked, answer: RecallAnswer, recalled: Recalled, now_s: float
    ) -> None:
        entries = tuple(
            (key, entry) for key in asked.look.keys if (entry := self._cache.get(key)) is not None
        )
        if entries and len(entries) == len(asked.look.keys):
            row = self._turns.row(asked.lane)
            self._repeats.remember(
                request, Given(asked.place, asked.lane, row, entries, answer, recalled, now_s)
            )

    def _status(self, asked: _Asked, now_s: float, *, has_supplement: bool) -> RecallStatus:
        look = asked.look
        own = None if look.own is None else self._judge(asked.route, look.own, now_s)
        found = None if look.found is None else self._judge(asked.route, look.found, now_s)
        if look.view is not None:
            return combined(self._judge(asked.route, look.view, now_s), own, found)
        return own or found or (RecallStatus.FRESH if has_supplement else RecallStatus.COLD)

    def _judge(self, route: Route, key: CacheKey, now_s: float) -> RecallStatus:
        held = self._held(key, now_s)
        failing = held is None and self._upstream.is_failing(route, key)
        return judge(held, ttl_s=self.ttl_s, failing=failing)

    def _held(self, key: CacheKey, now_s: float) -> Held | None:
        entry = self._cache.get(key)
        return None if entry is None else entry.held(now_s)

    def _off(self, place: Place, reason: OffReason, started_s: float) -> RecallAnswer:
        """The answer of a host that injects nothing here."""
        receipt = self._receipts.write(place, Recalled(RecallStatus.OFF), started_s=started_s)
        return RecallAnswer(
            status=RecallStatus.OFF,
            age_s=None,
            query_matched=False,
            approx_tokens=0,
            text="",
            sections=SectionTexts(),
            truncated=[],
            receipt=receipt,
            reason=reason,
        )


@lru_cache(_REMEMBERED)
def _texts(parts: Parts) -> SectionTexts:
    return SectionTexts(**{section.value: text for section, text in parts.present()})

"""Fetching ahead: at the end of a turn, at the start of a session, by hand. Nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final

import structlog

from honchod.clock import Clock
from honchod.delivery.routes import Route
from honchod.identity.choices import DialecticMode, Section
from honchod.identity.host import Host
from honchod.identity.place import Place
from honchod.outbox.cache import CacheKey
from honchod.outbox.recall_store import RecallStore
from honchod.outbox.values import LaneKey
from honchod.recall import questions, reasoning
from honchod.recall.cache import Cache
from honchod.recall.freshness import is_fresh
from honchod.recall.injection import injects
from honchod.recall.look import Asked, lane_of, look_at, sight_of
from honchod.recall.supplements import Supplement, Supplements
from honchod.recall.thinking import Thinking, Train
from honchod.recall.trivial import is_trivial
from honchod.recall.turns import Turns
from honchod.recall.upstream import Flight, Upstream

log = structlog.get_logger("honchod.recall")

IN_USE_S: Final = 900.0
"""An answer that was asked for within so long is in use: it is refreshed ahead of the next time."""


@dataclass(frozen=True, slots=True)
class Begun:
    """What was begun: whether the context is being fetched, and whether the dialectic is asked."""

    context: bool
    dialectic: bool


class Prefetcher:
    """Decides what to fetch ahead, and does it in the background."""

    def __init__(
        self,
        store: RecallStore,
        cache: Cache,
        upstream: Upstream,
        thinking: Thinking,
        turns: Turns,
        supplements: Supplements,
        *,
        ttl_s: float,
        clock: Clock,
    ) -> None:
        self._store = store
        self._cache = cache
        self._upstream = upstream
        self._thinking = thinking
        self._turns = turns
        self._supplements = supplements
        self.ttl_s = ttl_s
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self._trains: dict[LaneKey, asyncio.Task[None]] = {}

    async def close(self) -> None:
        """End what is under way."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def turn_ended(self, place: Place, route: Route | None, said: str | None) -> None:
        """A turn has ended; ``said`` is its last human message, if it had one."""
        self._spawn(self._after_turn(place, route, said))

    def begin(self, place: Place, route: Route, asked: Asked | None) -> Begun:
        """Fetch ahead by hand, whatever the cadence says. A query is what the dialectic is asked, too."""
        possible = self._thinking.is_possible(route)
        if possible:
            self._spawn(self._context(place, route, asked))
        train = self._think(place, route, chars=len(asked.text) if asked else 0, asked=asked)
        return Begun(context=possible, dialectic=train is not None)

    def start(self, place: Place, route: Route, asked: Asked | None) -> None:
        """A session starts: its context, then the dialectic at its full depth."""
        lane = lane_of(place)
        if lane not in self._trains:
            self._trains[lane] = train = self._spawn(self._prewarm(place, route, asked))
            train.add_done_callback(lambda done: self._arrived(lane, done))

    def train_of(self, lane: LaneKey) -> asyncio.Task[None] | None:
        """The train of thought that is under way for a session."""
        return self._trains.get(lane)

    def refresh_used(self, keys: tuple[CacheKey, ...], route: Route) -> int:
        """Refresh those of the answers that are in use and not of a query. Returns how many calls began."""
        since_s = self._clock.monotonic_s() - IN_USE_S
        begun = 0
        for key in keys:
            entry = self._cache.get(key)
            if entry is not None and not key.query and entry.used_at_s >= since_s:
                begun += self._upstream.refresh(route, key)[1]
        return begun

    async def _after_turn(self, place: Place, route: Route | None, said: str | None) -> None:
        lane, host = lane_of(place), place.host
        if not self._turns.knows(lane):
            self._turns.learn(await self._store.turns_of(lane))
        row = self._turns.ended(lane)
        if route is None or injects(host) is not None or (said is not None and is_trivial(said)):
            return
        if reasoning.context_due(row.turns, row.context_turn, host.recall.context_cadence):
            self._turns.asked_context(lane)
            await self._context(place, route, None)
            row = self._turns.of(lane)
        if reasoning.dialectic_due(
            row.turns, row.dialectic_turn, host.dialectic.cadence, empty=row.dialectic_empty
        ):
            self._think(place, route, chars=len(said or ""), asked=None)

    async def _prewarm(self, place: Place, route: Route, asked: Asked | None) -> None:
        await self._context(place, route, asked, only_stale=True)
        lane = lane_of(place)
        if self._thinks(place.host) and not self._supplements.has(lane):
            await self._train(place, route, chars=len(asked.text) if asked else 0, asked=None)

    async def _context(
        self, place: Place, route: Route, asked: Asked | None, *, only_stale: bool = False
    ) -> None:
        """Refresh what the session's recalls use, or would by default. Returns when the answers are there."""
        host = place.host
        look = look_at(
            place,
            route,
            target=self.target(place),
            sections=host.recall.sections,
            tokens=host.recall.context_tokens,
            asked=asked,
        )
        flights: list[Flight | None] = []
        if look.view is not None:
            used = self._cache.of_place((look.view.destination, look.view.workspace, look.view.session))
            keys = {look.view, *(key for key in used if self._is_used(key))}
            stale = {key for key in keys if not (only_stale and self._is_fresh(key))}
            flights += [self._upstream.refresh(route, key)[0] for key in stale]
        if look.own is not None and not self._is_fresh(look.own):
            flights.append(self._upstream.refresh(route, look.own)[0])
        if look.found is not None and not self._is_fresh(look.found):
            flights.append(self._upstream.refresh(route, look.found, look.query)[0])
        waiting = [flight for flight in flights if flight is not None]
        if waiting:
            await asyncio.wait(waiting)

    def target(self, place: Place) -> str | None:
        """Whom the session is about: the person who spoke last in it, else the host's own."""
        return self._turns.of(lane_of(place)).peer or place.host.peers.user

    def _think(
        self, place: Place, route: Route, *, chars: int, asked: Asked | None
    ) -> asyncio.Task[None] | None:
        """Ask the dialectic in the background, unless it is being asked, or the host never has it asked."""
        lane = lane_of(place)
        if lane in self._trains or not self._thinks(place.host) or not self._thinking.is_possible(route):
            return None
        self._trains[lane] = train = self._spawn(self._train(place, route, chars=chars, asked=asked))
        train.add_done_callback(lambda done: self._arrived(lane, done))
        return train

    async def _train(self, place: Place, route: Route, *, chars: int, asked: Asked | None) -> None:
        host, lane = place.host, lane_of(place)
        sight = sight_of(host, self.target(place), place.scope)
        if sight is None or not self._thinking.is_possible(route):
            return
        turns = self._turns.of(lane).turns
        self._turns.asked_dialectic(lane)
        settings = host.dialectic
        level = reasoning.bumped(settings.level, chars, settings.level_cap)
        question = questions.first(
            cold=self._is_cold(place, route),
            query=None if asked is None else asked.text,
            max_chars=settings.max_input_chars,
        )
        levels = reasoning.pass_levels(settings.depth, level, settings.depth_levels)
        train = Train(sight, levels, question, settings.max_input_chars)
        answer = await self._thinking.run(route, host.workspace, train)
        if answer is None:
            return
        self._turns.heard(lane, empty=not answer)
        if answer:
            digest = "" if asked is None else asked.digest
            self._supplements.put(lane, Supplement(answer, turns, self._clock.monotonic_s(), digest))

    def _thinks(self, host: Host) -> bool:
        return host.dialectic.mode is DialecticMode.AUTO and Section.DIALECTIC in host.recall.sections

    def _is_cold(self, place: Place, route: Route) -> bool:
        """Whether nothing is known of the person yet, as far as the cache tells."""
        keys = self._cache.of_place((route.destination, place.host.workspace, place.session))
        entries = (self._cache.get(key) for key in keys if not key.query)
        return all(entry is None or entry.parts.is_empty for entry in entries)

    def _is_fresh(self, key: CacheKey) -> bool:
        entry = self._cache.get(key)
        held = None if entry is None else entry.held(self._clock.monotonic_s())
        return is_fresh(held, self.ttl_s)

    def _is_used(self, key: CacheKey) -> bool:
        entry = self._cache.get(key)
        return entry is not None and not key.query and entry.used_at_s >= self._clock.monotonic_s() - IN_USE_S

    def _arrived(self, lane: LaneKey, train: asyncio.Task[None]) -> None:
        if self._trains.get(lane) is train:
            del self._trains[lane]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("prefetch.broke", error=type(error).__name__)

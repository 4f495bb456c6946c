"""The way to Honcho for what is not in the cache: one call for equal keys, none to a dead server."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

import structlog

from honchod.clock import Clock
from honchod.delivery.outcome import Step, judge
from honchod.delivery.routes import Route
from honchod.errors import CallFailed
from honchod.gateway.pacing import urgent
from honchod.gateway.pool import GatewayPool
from honchod.outbox.cache import CacheKey
from honchod.recall.cache import Cache
from honchod.recall.fetch import SearchBounds, fetch
from honchod.recall.gate import Gates

log = structlog.get_logger("honchod.recall")

Flight = asyncio.Task[None]

FAILURES_KEPT: Final = 2_000
PAUSE_S: Final = 2.0
PAUSE_MAX_S: Final = 60.0


@dataclass(slots=True)
class _Failure:
    """So many attempts in a row failed for a key; asked again at ``until_s`` (monotonic)."""

    count: int
    until_s: float


class Upstream:
    """Fills the cache. What failed is remembered for a short while, and never taken for an answer."""

    def __init__(
        self, pool: GatewayPool, gates: Gates, cache: Cache, bounds: SearchBounds, *, clock: Clock
    ) -> None:
        self._pool = pool
        self._gates = gates
        self._cache = cache
        self._clock = clock
        self.bounds = bounds
        self._flights: dict[CacheKey, Flight] = {}
        self._running: set[Flight] = set()
        self._failures: OrderedDict[CacheKey, _Failure] = OrderedDict()
        self._clearings = 0

    def refresh(self, route: Route, key: CacheKey, query: str | None = None) -> tuple[Flight | None, bool]:
        """Ask for a key, unless that is under way or pointless now.

        Returns the call to wait for, if there is one, and whether it was started here.
        """
        flight = self._flights.get(key)
        if flight is not None:
            return flight, False
        if self._gates.is_shut(route.destination) or self._failed_lately(key):
            return None, False
        flight = asyncio.create_task(self._fetch(route, key, query, self._clearings))
        self._flights[key] = flight
        self._running.add(flight)
        flight.add_done_callback(lambda done: self._landed(key, done))
        return flight, True

    def is_failing(self, route: Route, key: CacheKey) -> bool:
        """Whether the last attempt for this key failed, or none can be made."""
        return key in self._failures or self._gates.is_failing(route.destination)

    def forget(self) -> None:
        """The cache was cleared: what is still under way does not fill it again."""
        self._clearings += 1
        self._failures.clear()
        self._flights.clear()

    async def close(self) -> None:
        """End what is under way."""
        running = tuple(self._running)
        for flight in running:
            flight.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _landed(self, key: CacheKey, flight: Flight) -> None:
        self._running.discard(flight)
        if self._flights.get(key) is flight:
            del self._flights[key]

    def _failed_lately(self, key: CacheKey) -> bool:
        failure = self._failures.get(key)
        return failure is not None and self._clock.monotonic_s() < failure.until_s

    async def _fetch(self, route: Route, key: CacheKey, query: str | None, clearings: int) -> None:
        """``clearings``: how often the cache had been cleared when this was asked for."""
        destination = route.destination
        async with self._gates.of(destination).reads:
            if self._gates.is_shut(destination):
                return
            try:
                gateway = await self._pool.get(destination, route.endpoint(key.workspace))
                with urgent():
                    parts = await fetch(gateway.memory, key, query, self.bounds)
            except CallFailed as failure:
                verdict = judge(failure, Step.LOOK, now_ms=self._clock.now_ms())
                self._failed(key, alone=not self._gates.failed(destination, verdict))
                log.warning("recall.failed", host=route.host.name, code=failure.code)
                return
            except Exception as error:
                self._failed(key, alone=True)
                log.error("recall.broke", host=route.host.name, error=type(error).__name__)
                return
        self._gates.answered(destination)
        if clearings == self._clearings:
            self._failures.pop(key, None)
            self._cache.put(key, parts)

    def _failed(self, key: CacheKey, *, alone: bool) -> None:
        """``alone``: the destination is fine, this key is left alone for a while."""
        before = self._failures.pop(key, None)
        count = 1 if before is None else before.count + 1
        pause_s = min(PAUSE_MAX_S, PAUSE_S * 2.0 ** min(count - 1, 10)) if alone else 0.0
        self._failures[key] = _Failure(count, self._clock.monotonic_s() + pause_s)
        if len(self._failures) > FAILURES_KEPT:
            self._failures.popitem(last=False)
        self._cache.failed(key)

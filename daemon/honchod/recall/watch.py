"""Watches Honcho derive from what was delivered: it looks at its queue, ever more seldom, or when told."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from honchod.clock import Clock
from honchod.delivery.outcome import Step, judge
from honchod.delivery.routes import Route
from honchod.errors import CallFailed
from honchod.gateway.pool import GatewayPool
from honchod.outbox.values import LaneKey
from honchod.recall.freshness import QueueSeen, has_learned, poll_in_s
from honchod.recall.gate import Gates
from honchod.recall.turns import Turns
from honchod.recall.webhook import Derived

log = structlog.get_logger("honchod.recall")

WATCHED_MAX: Final = 100
"""So many sessions are looked at, the latest ones; the rest follow the TTL."""
GAP_S: Final = 0.1
"""Between two looks, whoever they are for: watching must not crowd out what is watched."""
SHUT_S: Final = 5.0

RouteOf = Callable[[str], Route | None]
"""The present way of a host."""


@dataclass(slots=True)
class _Watch:
    """One session: looks so far, when the next is due (monotonic), what the last one showed."""

    due_at_s: float
    polls: int = 0
    seen: QueueSeen | None = None


class Watcher:
    """Looks at the queues of sessions that something was delivered to, and tells when Honcho has learned."""

    def __init__(
        self,
        pool: GatewayPool,
        gates: Gates,
        turns: Turns,
        *,
        route_of: RouteOf,
        learned: Callable[[LaneKey, Route], None],
        clock: Clock,
    ) -> None:
        """``learned`` is called each time Honcho has derived something of a session."""
        self._pool = pool
        self._gates = gates
        self._turns = turns
        self._route_of = route_of
        self._learned = learned
        self._clock = clock
        self._watches: OrderedDict[LaneKey, _Watch] = OrderedDict()
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, with what was not derived when the daemon last stopped."""
        for lane in reversed(self._turns.to_derive()[:WATCHED_MAX]):
            self._watch(lane)
        self._loop = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop looking."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)

    def delivered(self, lane: LaneKey, messages: int) -> None:
        """Honcho has so many more messages of this session to derive from."""
        self._turns.delivered(lane, messages)
        self._watch(lane)

    def told(self, event: Derived) -> None:
        """Honcho says that it has derived: look at that session now, or at all that it may mean."""
        of_workspace = [lane for lane in self._watches if lane.workspace == event.workspace]
        named = [lane for lane in of_workspace if lane.session == event.session]
        for lane in named or of_workspace:
            self._watches[lane].due_at_s = self._clock.monotonic_s()
        self._wake.set()

    @property
    def watched(self) -> int:
        """Sessions that are being looked at."""
        return len(self._watches)

    def _watch(self, lane: LaneKey) -> None:
        before = self._watches.get(lane)
        due_at_s = self._clock.monotonic_s() + (poll_in_s(0) or 0.0)
        # Only what is derived from now on counts: the queue as it was is no news.
        self._watches[lane] = _Watch(due_at_s, seen=None if before is None else before.seen)
        self._watches.move_to_end(lane)
        if len(self._watches) > WATCHED_MAX:
            self._watches.popitem(last=False)
        self._wake.set()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            now_s = self._clock.monotonic_s()
            lane = min(self._watches, key=lambda one: self._watches[one].due_at_s, default=None)
            if lane is not None and self._watches[lane].due_at_s <= now_s:
                await self._look(lane, self._watches[lane])
                await asyncio.sleep(GAP_S)
                continue
            wait_s = None if lane is None else self._watches[lane].due_at_s - now_s
            try:
                async with asyncio.timeout(wait_s):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _look(self, lane: LaneKey, watch: _Watch) -> None:
        route = self._route_of(lane.host)
        if route is None:
            self._watches.pop(lane, None)
            return
        if self._gates.is_shut(route.destination):
            watch.due_at_s = self._clock.monotonic_s() + SHUT_S
            return
        try:
            gateway = await self._pool.get(route.destination, route.endpoint(lane.workspace))
            queue = await gateway.memory.queue(lane.session)
        except CallFailed as failure:
            verdict = judge(failure, Step.LOOK, now_ms=self._clock.now_ms())
            self._gates.failed(route.destination, verdict)
            self._later(lane, watch)
            return
        except Exception as error:
            log.error("watch.broke", host=lane.host, error=type(error).__name__)
            self._later(lane, watch)
            return
        seen = QueueSeen(queue.completed, queue.in_progress + queue.pending)
        if has_learned(watch.seen, seen):
            self._learned(lane, route)
        watch.seen = seen
        if seen.waiting == 0 and self._watches.get(lane) is watch:
            # Unless more was delivered while this look was under way.
            del self._watches[lane]
            self._turns.derived(lane)
        else:
            self._later(lane, watch)

    def _later(self, lane: LaneKey, watch: _Watch) -> None:
        if self._watches.get(lane) is not watch:
            return
        watch.polls += 1
        wait_s = poll_in_s(watch.polls)
        if wait_s is None:
            del self._watches[lane]
        else:
            watch.due_at_s = self._clock.monotonic_s() + wait_s

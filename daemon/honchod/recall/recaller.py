"""Recall as the rest of the house sees it: one object that answers, fetches ahead and keeps what it knows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from honchod.clock import Clock
from honchod.delivery.retry import Policy
from honchod.delivery.routes import Route, members
from honchod.errors import CallFailed
from honchod.gateway.pool import GatewayPool
from honchod.identity.host import Hosts
from honchod.identity.modes import captures
from honchod.identity.peers import UNKNOWN_PEER
from honchod.identity.place import Place
from honchod.outbox.recall_store import RecallStore
from honchod.outbox.values import LaneKey
from honchod.recall import webhook
from honchod.recall.answering import Answering
from honchod.recall.cache import Cache
from honchod.recall.directory import Directory
from honchod.recall.fetch import SearchBounds
from honchod.recall.gate import CircuitOf, Gates
from honchod.recall.injection import injects
from honchod.recall.keeper import Keeper
from honchod.recall.look import lane_of, look_at
from honchod.recall.prefetch import Prefetcher
from honchod.recall.queries import Queries, Redact
from honchod.recall.receipts import Receipts
from honchod.recall.repeats import Repeats
from honchod.recall.requests import (
    Cleared,
    Prefetching,
    RecallAnswer,
    RecallRequest,
    ReceiptPage,
    SessionQuery,
    StartedSession,
)
from honchod.recall.supplements import Supplements
from honchod.recall.thinking import Thinking
from honchod.recall.turns import Turns
from honchod.recall.upstream import Upstream
from honchod.recall.watch import Watcher

log = structlog.get_logger("honchod.recall")


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How recall works, from the ``[recall]`` section, and how it backs off, from ``[delivery]``."""

    ttl_s: float
    max_entries: int
    bounds: SearchBounds
    policy: Policy


@dataclass(frozen=True, slots=True)
class RecallFacts:
    """What a status shows of recall. ``underived``: messages not known to be derived, by host."""

    entries: int
    bytes: int
    hits: int
    misses: int
    stale: int
    underived: Mapping[str, int]


class Recaller:
    """`open` before the first recall, `close` at the end; `use` and `configure` at a reload."""

    def __init__(
        self,
        store: RecallStore,
        pool: GatewayPool,
        directory: Directory,
        settings: RecallSettings,
        *,
        circuit_of: CircuitOf,
        redact: Redact | None,
        salt: bytes,
        clock: Clock,
    ) -> None:
        self._store = store
        self._pool = pool
        self._directory = directory
        self._settings = settings
        self._cache = Cache(max_entries=settings.max_entries, clock=clock)
        self._turns = Turns(clock)
        self._supplements = Supplements()
        self._receipts = Receipts(clock)
        self._queries = Queries(redact, salt)
        self._gates = Gates(circuit_of, lambda: self._settings.policy, clock)
        self._upstream = Upstream(pool, self._gates, self._cache, settings.bounds, clock=clock)
        self._prefetcher = Prefetcher(
            store,
            self._cache,
            self._upstream,
            Thinking(pool, self._gates, clock),
            self._turns,
            self._supplements,
            ttl_s=settings.ttl_s,
            clock=clock,
        )
        self._repeats = Repeats(
            self._cache,
            self._turns,
            self._supplements,
            self._receipts,
            is_current=directory.is_current,
            clock=clock,
        )
        self._answering = Answering(
            self._cache,
            self._upstream,
            self._prefetcher,
            self._turns,
            self._supplements,
            self._receipts,
            self._repeats,
            ttl_s=settings.ttl_s,
            clock=clock,
        )
        self._keeper = Keeper(store, self._cache, self._turns)
        self._watcher = Watcher(
            pool,
            self._gates,
            self._turns,
            route_of=directory.route,
            learned=self._learned,
            clock=clock,
        )
        self._starts: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Take over what was kept, so that the first recall is warm."""
        await self._keeper.load()
        self._watcher.start()

    async def close(self) -> None:
        """End what is under way and write what is still to be written."""
        await self._watcher.close()
        await self._prefetcher.close()
        starts = tuple(self._starts)
        for task in starts:
            task.cancel()
        await asyncio.gather(*starts, return_exceptions=True)
        await self._upstream.close()
        await self._keeper.close()

    def use(self, hosts: Hosts, routes: Mapping[str, Route], redact: Redact | None) -> None:
        """Work with these from now on."""
        self._directory.use(hosts, routes)
        self._queries.use(redact)
        self._repeats.clear()

    def configure(self, settings: RecallSettings) -> None:
        """New settings, from now on."""
        self._settings = settings
        self._cache.max_entries = settings.max_entries
        self._upstream.bounds = settings.bounds
        self._prefetcher.ttl_s = self._answering.ttl_s = settings.ttl_s

    def again(self, request: RecallRequest) -> RecallAnswer | None:
        """The answer to a recall that was answered a moment ago, if nothing has changed since."""
        return self._answering.again(request)

    async def recall(self, request: RecallRequest) -> RecallAnswer:
        """Memory for the prompt, from what is held. Raises UnknownHost, BadRequest and RedactionFailed."""
        place = self._directory.place(request)
        prompt = await self._queries.read(request.query)
        return await self._answering.recall(request, place, self._directory.route(place.host.name), prompt)

    async def prefetch(self, request: SessionQuery) -> Prefetching:
        """Fetch ahead by hand. A trivial query costs nothing. Raises as `recall` does."""
        place = self._directory.place(request)
        route = self._directory.route(place.host.name)
        prompt = await self._queries.read(request.query)
        if route is None or injects(place.host) is not None or prompt.trivial or prompt.withheld:
            return Prefetching(place.session, context=False, dialectic=False)
        begun = self._prefetcher.begin(place, route, prompt.asked)
        return Prefetching(place.session, context=begun.context, dialectic=begun.dialectic)

    async def start(self, request: SessionQuery) -> StartedSession:
        """A session starts: it is made remotely and warmed up, both behind the answer. Raises as `recall`."""
        place = self._directory.place(request)
        route = self._directory.route(place.host.name)
        prompt = await self._queries.read(request.query)
        if route is None:
            return StartedSession(place.session, place.generation, warm=False)
        warm = self._is_warm(place, route)
        if captures(place.host):
            task = asyncio.create_task(self._create(place, route))
            self._starts.add(task)
            task.add_done_callback(self._starts.discard)
        if injects(place.host) is None:
            self._prefetcher.start(place, route, prompt.asked)
        return StartedSession(place.session, place.generation, warm=warm)

    def spoke(self, place: Place, *, peer: str | None, said: str | None, turn_ended: bool) -> None:
        """Something was written in a session: by this person (None: by nobody), who said this last. With
        ``turn_ended`` the next turn is prepared.
        """
        if peer is not None and peer != UNKNOWN_PEER:
            self._turns.spoke(lane_of(place), peer)
        if turn_ended:
            self._prefetcher.turn_ended(place, self._directory.route(place.host.name), said)

    def reasoned(self, place: Place) -> None:
        """The model has asked the dialectic itself: the cadence of the automatic one starts over."""
        self._turns.asked_dialectic(lane_of(place))

    def delivered(self, lane: LaneKey, messages: int) -> None:
        """Honcho has so many more messages of a session: watch what it makes of them."""
        if messages:
            self._watcher.delivered(lane, messages)

    def on_webhook(self, event: webhook.Derived) -> None:
        """Honcho says that it has derived something."""
        self._watcher.told(event)

    async def clear(self) -> Cleared:
        """Forget every answer, in memory and on disk."""
        self._upstream.forget()
        cleared = self._cache.clear()
        self._supplements.clear()
        self._answering.forget()
        await self._store.clear_answers()
        log.info("cache.cleared", answers=cleared)
        return Cleared(cleared)

    @property
    def gates(self) -> Gates:
        """Whether a destination may be asked now: the same for all who ask for somebody that waits."""
        return self._gates

    def person(self, place: Place) -> str | None:
        """Whom a session is about, if anybody is known."""
        return self._prefetcher.target(place)

    async def forget(self, destination: str, workspace: str) -> int:
        """Drop every answer of a workspace, in memory and on disk: something in them is to be forgotten.

        Returns how many there were.
        """
        self._upstream.forget()
        dropped = self._cache.drop(destination, workspace) + self._supplements.clear()
        self._answering.forget()
        await self._keeper.flush()
        return dropped

    def receipts(self, *, limit: int, session: str | None) -> ReceiptPage:
        """The last recalls, without content."""
        return ReceiptPage(self._receipts.latest(limit, session=session))

    def facts(self) -> RecallFacts:
        """What a status shows."""
        tally = self._answering.tally
        return RecallFacts(
            entries=len(self._cache),
            bytes=self._cache.bytes,
            hits=tally.hits,
            misses=tally.misses,
            stale=tally.stale,
            underived=self._turns.underived,
        )

    def _is_warm(self, place: Place, route: Route) -> bool:
        look = look_at(
            place,
            route,
            target=self._prefetcher.target(place),
            sections=place.host.recall.sections,
            tokens=place.host.recall.context_tokens,
            asked=None,
        )
        return bool(look.keys) and all(self._cache.get(key) is not None for key in look.keys)

    async def _create(self, place: Place, route: Route) -> None:
        """Make the session with its members, before the first message does it without their flags."""
        host = place.host
        joined = tuple(dict.fromkeys(filter(None, (self._prefetcher.target(place), host.peers.ai))))
        async with self._gates.of(route.destination).setups:
            if self._gates.is_shut(route.destination):
                return
            try:
                gateway = await self._pool.get(route.destination, route.endpoint(host.workspace))
                await gateway.prepare(place.session, members(host, (), joined), place.scope)
            except CallFailed as failure:
                # Delivery makes it with the first message.
                log.warning("session.not_made", host=host.name, code=failure.code)

    def _learned(self, lane: LaneKey, route: Route) -> None:
        """Honcho has derived from a session: its answers are old, those in use are asked for again."""
        for session in (lane.session, ""):
            keys = self._cache.age((route.destination, lane.workspace, session))
            self._prefetcher.refresh_used(keys, route)

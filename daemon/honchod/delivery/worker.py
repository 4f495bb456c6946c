"""The worker: leases due lanes, sends them on their way, settles what came of them, sleeps until the next.

It polls nothing. It wakes when something was appended, when a delivery ends, or when the next lane or
circuit is due. Its waits run on the monotonic clock; what is due is wall clock, read from the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import cast

import structlog

from honchod.clock import Clock
from honchod.delivery.circuit import Circuit, CircuitState, retried
from honchod.delivery.deliver import Delivery, Result
from honchod.delivery.destination import Destination, restored
from honchod.delivery.heartbeat import beat
from honchod.delivery.housekeeping import keep_house
from honchod.delivery.retry import Policy
from honchod.delivery.routes import Route
from honchod.errors import LeaseLost
from honchod.gateway.pool import GatewayPool
from honchod.outbox.store import Outbox
from honchod.outbox.values import Lease, LeaseTerms, NothingDue, Settlement

log = structlog.get_logger("honchod.delivery")

IDLE_MAX_S = 60.0
"""The worker looks at least this often: a clock that jumped forward made something due."""
SETTLE_RETRY_S = 0.5


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How the worker works, from the ``[delivery]`` section."""

    policy: Policy
    terms: LeaseTerms
    concurrency: int
    request_timeout_s: float


class Worker:
    """Delivers from the outbox until it is stopped. `notify` after each append."""

    def __init__(
        self, outbox: Outbox, pool: GatewayPool, settings: WorkerSettings, *, clock: Clock, random: Random
    ) -> None:
        self._outbox = outbox
        self._pool = pool
        self._settings = settings
        self._clock = clock
        self._random = random
        self._routes: dict[str, Route] = {}
        self.destinations: dict[str, Destination] = {}
        self._kept: dict[str, Circuit] = {}
        self._tasks: dict[asyncio.Task[None], Lease] = {}
        self._on_the_way: dict[asyncio.Task[None], Route] = {}
        self._suspects_in_flight = 0
        self._look_at_s: dict[int, float] = {}
        self._leasing = asyncio.Lock()
        self._wake = asyncio.Event()
        self._settled = asyncio.Event()
        self._stopping = False
        self.paused = False
        self.reconciled = 0
        self.turned_at_s = clock.monotonic_s()
        """When the loop last went round (monotonic): what a watchdog looks at."""
        self.on_result: Callable[[Lease, Result], None] | None = None

    async def open(self) -> None:
        """Take back what a dead process left in flight, and restore the circuits."""
        recovered = await self._outbox.recover(
            settle_delay_ms=self._settings.policy.settle_delay_ms,
            died=True,
            waits=self._settings.policy.suspect_waits,
        )
        if recovered.lanes:
            log.warning("leases.recovered", lanes=recovered.lanes, suspects=recovered.suspects)
        limit = self._settings.concurrency
        self._kept = {
            row.destination: restored(row, limit=limit) for row in await self._outbox.load_circuits()
        }

    async def use(self, routes: Iterable[Route]) -> None:
        """Work with these routes from now on. What is in flight ends on its old way.

        Open circuits are probed at once. A host whose way changed has a new circuit, opened slowly.
        """
        before = self._routes
        self._routes = {route.host.name: route for route in routes}
        present: dict[str, Destination] = {}
        for route in self._routes.values():
            destination = present.get(route.destination)
            if destination is None:
                destination = self.destinations.get(route.destination) or self._new(
                    route, replaced=bool(before)
                )
                destination.hosts = []
                present[route.destination] = destination
            destination.hosts.append(route.host.name)
        self.destinations = present
        for destination in present.values():
            self._retry_circuit(destination)
        changed = tuple(
            name
            for name, route in self._routes.items()
            if name in before and before[name].destination != route.destination
        )
        if changed:
            await self._outbox.wake(changed)
        await self._close_unused()
        self.notify()

    def configure(self, settings: WorkerSettings) -> None:
        """New settings, for what is leased from now on."""
        self._settings = settings
        self.notify()

    def notify(self) -> None:
        """Something may be due."""
        self._wake.set()

    async def wake(self, hosts: tuple[str, ...] | None = None) -> None:
        """Try everything that waits, now: lanes in backoff, and circuits that are open."""
        for destination in self.destinations.values():
            if hosts is None or any(host in hosts for host in destination.hosts):
                self._retry_circuit(destination)
        await self._outbox.wake(hosts)
        self.notify()

    def pause(self) -> None:
        """Lease nothing more; what is in flight ends."""
        self.paused = True

    def resume(self) -> None:
        """Go on."""
        self.paused = False
        self.notify()

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes in use."""
        return tuple(self._routes.values())

    @property
    def request_timeout_s(self) -> float:
        """How long one request may take."""
        return self._settings.request_timeout_s

    @property
    def requests(self) -> int:
        """Calls to Honcho since the start."""
        return self._pool.requests

    @property
    def in_flight(self) -> int:
        """Events in flight."""
        return sum(len(lease.events) for lease in self._tasks.values())

    async def settled(self) -> None:
        """Return when the next delivery has been settled."""
        await self._settled.wait()

    async def run(self) -> None:
        """Work until `stop`."""
        housekeeping = asyncio.create_task(
            keep_house(
                self._outbox,
                policy=lambda: self._settings.policy,
                terms=lambda: self._settings.terms,
                reclaim=self._reclaim,
                done=self.notify,
            )
        )
        await self._pool.load()
        try:
            while not self._stopping:
                self._wake.clear()
                self.turned_at_s = self._clock.monotonic_s()
                try:
                    wait_s = await self._fill()
                except Exception as error:
                    # A full disk takes no lease either; it will be freed, and so will the lanes.
                    log.error("lease.failed", error=type(error).__name__)
                    wait_s = SETTLE_RETRY_S
                try:
                    async with asyncio.timeout(wait_s):
                        await self._wake.wait()
                except TimeoutError:
                    pass
        finally:
            housekeeping.cancel()

    async def stop(self, timeout_s: float) -> None:
        """Lease nothing more, let requests in flight end for so long, then cut the rest."""
        self._stopping = True
        self.notify()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=timeout_s)
        cut = tuple(self._tasks)
        for task in cut:
            task.cancel()
        if cut:
            log.warning("deliveries.cut", lanes=len(cut))
            await asyncio.gather(*cut, return_exceptions=True)

    async def _fill(self) -> float:
        """Lease all that may be leased. Returns how long to wait at the most (seconds)."""
        if self.paused or self._suspects_in_flight:
            return IDLE_MAX_S
        next_ms: list[int] = []
        for destination in tuple(self.destinations.values()):
            while not self._stopping and destination.allows(
                self._settings.policy, now_ms=self._clock.now_ms()
            ):
                leased = await self._take(destination.hosts)
                if not isinstance(leased, Lease):
                    if leased.next_ms is not None:
                        next_ms.append(leased.next_ms)
                    break
            now_ms = self._clock.now_ms()
            if destination.circuit.state is CircuitState.OPEN and destination.circuit.until_ms > now_ms:
                next_ms.append(destination.circuit.until_ms)
        if not self._tasks and not self._stopping:
            suspect = await self._try_suspect()
            if suspect is not None:
                next_ms.append(suspect)
        wait_ms = min(next_ms, default=self._clock.now_ms() + int(IDLE_MAX_S * 1000)) - self._clock.now_ms()
        return min(IDLE_MAX_S, max(0.01, wait_ms / 1000))

    async def _try_suspect(self) -> int | None:
        """With nothing else in flight, try one suspect lane. Returns when the next one is due."""
        now_ms = self._clock.now_ms()
        hosts = [
            host
            for destination in self.destinations.values()
            if destination.allows(self._settings.policy, now_ms=now_ms)
            for host in destination.hosts
        ]
        if not hosts:
            return None
        leased = await self._take(hosts, suspects=True)
        if not isinstance(leased, Lease):
            return leased.next_ms
        log.warning("suspect.tried", lane=leased.lane_id, host=leased.lane.host)
        return None

    async def _take(self, hosts: Sequence[str], *, suspects: bool = False) -> Lease | NothingDue:
        """Lease a lane and send it on its way, in one piece for `_reclaim`."""
        async with self._leasing:
            leased = await self._outbox.lease(hosts, self._settings.terms, suspects=suspects)
            if isinstance(leased, Lease):
                await self._start(leased)
            return leased

    async def _reclaim(self) -> None:
        """Take back leases that ran out and have no delivery any more."""
        async with self._leasing:
            alive = [lease.id for lease in self._tasks.values()]
            delay_ms = self._settings.policy.settle_delay_ms
            await self._outbox.recover(settle_delay_ms=delay_ms, died=False, alive=alive)

    async def _start(self, lease: Lease) -> None:
        route = self._routes.get(lease.lane.host)
        if route is None:
            # The configuration changed while the lease was taken.
            await self._settle(lease, Settlement.untouched(lease))
            return
        destination = self.destinations[route.destination]
        destination.started(now_s=self._clock.monotonic_s())
        self._suspects_in_flight += lease.suspect
        task = asyncio.create_task(self._deliver(lease, destination, route))
        self._tasks[task] = lease
        self._on_the_way[task] = route
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        lease = self._tasks.pop(task)
        del self._on_the_way[task]
        self._suspects_in_flight -= lease.suspect
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("delivery.broke", lane=lease.lane_id, error=type(error).__name__, exc_info=error)
        self._settled.set()
        self._settled = asyncio.Event()
        self.notify()

    async def _deliver(self, lease: Lease, destination: Destination, route: Route) -> None:
        delivery = Delivery(
            lease,
            route,
            await self._pool.get(route.destination, route.endpoint(lease.lane.workspace)),
            self._settings.policy,
            clock=self._clock,
            random=self._random,
            renew=lambda: self._renew(lease),
            look_at_s=self._look_at_s.get(lease.lane_id),
        )
        heart = asyncio.create_task(
            beat(
                lambda: self._renew(lease),
                every_s=self._settings.terms.lease_ms / 3000,
                lost=cast("asyncio.Task[None]", asyncio.current_task()).cancel,
                lane_id=lease.lane_id,
            )
        )
        try:
            result = await delivery.run()
        except asyncio.CancelledError:
            destination.ended()
            heart.cancel()
            await self._settle(lease, delivery.abandon())
            raise
        except LeaseLost:
            destination.ended()
            log.warning("lease.lost", lane=lease.lane_id)
            return
        except BaseException:
            destination.ended()
            raise
        finally:
            heart.cancel()
        self._remember_look(lease, result)
        circuit = destination.circuit
        destination.showed(
            result,
            self._settings.policy,
            clock=self._clock,
            random=self._random,
            limit=self._settings.concurrency,
        )
        self._tell(lease, result)
        # There is room for another lane already: its lease is taken in the commit that settles this one.
        self.notify()
        await self._settle(lease, result.settlement)
        if (circuit.state, circuit.reason) != (destination.circuit.state, destination.circuit.reason):
            await self._keep(destination, circuit)

    async def _settle(self, lease: Lease, what: Settlement) -> None:
        """Write the outcome back, however often it takes: what Honcho has must not be sent again."""
        while True:
            try:
                await self._outbox.settle(lease, what)
            except LeaseLost:
                log.warning("lease.lost", lane=lease.lane_id)
            except Exception as error:
                log.error("settle.failed", lane=lease.lane_id, error=type(error).__name__)
                if self._stopping:
                    return
                await asyncio.sleep(SETTLE_RETRY_S)
                continue
            return

    async def _renew(self, lease: Lease) -> None:
        await self._outbox.renew(lease, self._settings.terms.lease_ms)

    def _remember_look(self, lease: Lease, result: Result) -> None:
        """When an unknown attempt of this process may be looked up, by a clock that does not jump."""
        uncertain = result.settlement.uncertain
        if uncertain is None:
            self._look_at_s.pop(lease.lane_id, None)
        else:
            wait_s = max(0, uncertain.look_at_ms - self._clock.now_ms()) / 1000
            self._look_at_s[lease.lane_id] = self._clock.monotonic_s() + wait_s

    def _tell(self, lease: Lease, result: Result) -> None:
        self.reconciled += result.reconciled
        if self.on_result is not None:
            self.on_result(lease, result)
        result.log_for(lease)

    async def _keep(self, destination: Destination, before: Circuit) -> None:
        log.info(
            "circuit.changed",
            url=destination.url,
            state=destination.circuit.state.value,
            reason=destination.circuit.reason.value,
            before=before.state.value,
        )
        await self._outbox.save_circuit(destination.row())

    def _retry_circuit(self, destination: Destination) -> None:
        destination.circuit = retried(destination.circuit, now_ms=self._clock.now_ms())

    def _new(self, route: Route, *, replaced: bool) -> Destination:
        width = 1 if replaced else self._settings.concurrency
        circuit = self._kept.get(route.destination, Circuit(width=width))
        return Destination(route.destination, route.url, circuit)

    async def _close_unused(self) -> None:
        """Close what no lease in flight still uses."""
        in_use = {task_route.destination for task_route in self._on_the_way.values()}
        await self._pool.keep_only(in_use | set(self.destinations))

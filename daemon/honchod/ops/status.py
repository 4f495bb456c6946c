"""Status and health, from what the outbox and the worker say. Never content or keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import honchod
from honchod.clock import Clock, rfc3339
from honchod.delivery.circuit import CircuitState, Reason
from honchod.delivery.destination import Destination
from honchod.delivery.routes import Route
from honchod.delivery.worker import Worker
from honchod.identity.host import Host
from honchod.ops import conditions
from honchod.ops.recent import RecentErrors
from honchod.ops.views import (
    CacheView,
    DeliveryView,
    DestinationState,
    DestinationView,
    Health,
    LaneView,
    Queue,
    Status,
    WriterView,
)
from honchod.outbox.store import Outbox
from honchod.outbox.values import Counts
from honchod.outbox.views import LaneRow, Overview
from honchod.outbox.writer import WriterStats
from honchod.recall.recaller import RecallFacts

WRITER_STUCK_S: Final = 15.0
WORKER_STUCK_S: Final = 120.0
"""The worker goes round at least once a minute."""

_STATES: Final[Mapping[Reason, DestinationState]] = {
    Reason.UNREACHABLE: "unreachable",
    Reason.THROTTLED: "throttled",
    Reason.REFUSED: "refused",
    Reason.SILENT: "stalled",
}


def destination_state(destination: Destination, *, now_s: float, timeout_s: float) -> DestinationState:
    """How a destination does, in one word."""
    if destination.circuit.state is not CircuitState.CLOSED:
        return _STATES.get(destination.circuit.reason, "ok")
    return "stalled" if destination.stalled(now_s=now_s, timeout_s=timeout_s) else "ok"


def health(outbox: Outbox, worker: Worker, clock: Clock, *, within_s: float | None = None) -> Health:
    """What makes no progress. That the loop does shows in the answer itself.

    ``within_s`` asks for more haste than is usual of the writer.
    """
    now_s = clock.monotonic_s()
    stuck = []
    if outbox.writer_stats().busy_s > min(WRITER_STUCK_S, within_s or WRITER_STUCK_S):
        stuck.append("writer")
    if now_s - worker.turned_at_s > WORKER_STUCK_S:
        stuck.append("scheduler")
    destinations = {
        host: destination_state(destination, now_s=now_s, timeout_s=worker.request_timeout_s)
        for destination in worker.destinations.values()
        for host in destination.hosts
    }
    return Health("stuck" if stuck else "ok", stuck, destinations)


async def status(
    outbox: Outbox,
    worker: Worker,
    hosts: Mapping[str, Host],
    recent: RecentErrors,
    recall: RecallFacts,
    *,
    clock: Clock,
    started_s: float,
    notices: list[str],
    oldest: bool = False,
) -> Status:
    """The whole daemon at a glance. ``oldest``: with the lanes that have waited longest."""
    seen = await outbox.overview(oldest=oldest)
    now_ms, now_s = clock.now_ms(), clock.monotonic_s()
    counts = seen.counts
    return Status(
        version=honchod.__version__,
        uptime_s=round(now_s - started_s, 1),
        queue=Queue(
            pending=counts.queued,
            oldest_age_s=_age_s(seen.oldest_queued_at_ms, now_ms),
            in_flight=worker.in_flight,
            delivered=counts.delivered_ever,
            dead=counts.dead,
            discarded=counts.discarded,
            bytes=counts.bytes,
        ),
        lanes=[_lane(row, hosts, now_ms) for row in seen.lanes],
        destinations=[_destination(route, worker, seen, recall, now_ms, now_s) for route in worker.routes],
        cache=CacheView(recall.entries, recall.hits, recall.misses, recall.stale),
        writer=_writer(outbox.writer_stats()),
        delivery=DeliveryView(
            paused=worker.paused,
            in_flight=worker.in_flight,
            requests=worker.requests,
            reconciled=worker.reconciled,
        ),
        errors=recent.listed(),
        notices=[*notices, *await conditions.notices(outbox), *_stranded(seen, hosts)],
        database_bytes=seen.database_bytes,
        wal_bytes=outbox.wal_bytes(),
        unacknowledged=len(await outbox.notices()),
    )


def _age_s(since_ms: int | None, now_ms: int) -> float | None:
    return None if since_ms is None else max(0.0, round((now_ms - since_ms) / 1000, 3))


def _lane(row: LaneRow, hosts: Mapping[str, Host], now_ms: int) -> LaneView:
    due = None if row.due_at_ms is None or row.leased else max(0.0, (row.due_at_ms - now_ms) / 1000)
    return LaneView(
        session=row.session,
        host=row.host,
        workspace=row.workspace,
        pending=row.pending,
        due_in_s=due,
        failures=row.failures,
        last_error=row.last_error,
        in_flight=row.leased,
        uncertain=row.uncertain,
        suspect=row.suspect,
        order_gap=row.order_gap,
        configured=row.host in hosts,
        oldest_age_s=_age_s(row.first_queued_at_ms, now_ms),
    )


def _destination(
    route: Route, worker: Worker, seen: Overview, recall: RecallFacts, now_ms: int, now_s: float
) -> DestinationView:
    destination = worker.destinations[route.destination]
    circuit = destination.circuit
    counts = [place for (host, _), place in seen.by_place.items() if host == route.host.name]
    waits = circuit.state is CircuitState.OPEN
    delivered = sum(place.delivered_ever for place in counts)
    return DestinationView(
        host=route.host.name,
        url=route.url,
        workspace=route.host.workspace,
        key_source=route.host.key_source.value,
        state=destination_state(destination, now_s=now_s, timeout_s=worker.request_timeout_s),
        circuit=circuit.state.value,
        retry_in_s=max(0.0, (circuit.until_ms - now_ms) / 1000) if waits else None,
        in_flight=destination.in_flight,
        delivered=delivered,
        derived=max(0, delivered - recall.underived.get(route.host.name, 0)),
        last_error=destination.last_error,
        last_error_at=_at(destination.last_error_at_ms),
        last_delivery_at=_at(destination.last_delivery_at_ms),
    )


def _at(at_ms: int | None) -> str | None:
    return None if at_ms is None else rfc3339(at_ms)


def _writer(stats: WriterStats) -> WriterView:
    return WriterView(stats.commits, stats.p50_ms, stats.p99_ms, stats.mean_group, stats.queued)


def _stranded(seen: Overview, hosts: Mapping[str, Host]) -> list[str]:
    """Hosts that are gone from the configuration and have messages waiting."""
    waiting: dict[str, Counts] = {
        host: counts for (host, _), counts in seen.by_place.items() if counts.queued
    }
    return [
        f"host {host} is not configured (any more): its messages wait"
        for host in sorted(waiting)
        if host not in hosts or not hosts[host].enabled
    ]

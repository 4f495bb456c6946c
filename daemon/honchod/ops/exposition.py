"""The metrics that are looked up when Prometheus asks: a status, as families of samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, get_args

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from honchod.ops.views import DestinationState, DestinationView, Health, Status
from honchod.outbox.values import Bounds

PARTS: Final = ("writer", "scheduler")
"""What can be stuck, as `Health` names it."""

DESTINATION_STATES: Final[tuple[str, ...]] = get_args(DestinationState)


@dataclass(frozen=True, slots=True)
class Seen:
    """The daemon at one instant. ``free_bytes``: room on the disk of the outbox."""

    status: Status
    health: Health
    bounds: Bounds
    free_bytes: int


class Exposition(Collector):
    """Shows what was last seen; nothing before that."""

    def __init__(self) -> None:
        self.seen: Seen | None = None

    def collect(self) -> Iterator[Metric]:
        """The families."""
        if self.seen is not None:
            yield from _outbox(self.seen)
            yield from _delivery(self.seen.status)
            yield from _cache(self.seen.status)
            yield _drop_box(self.seen.status)
            yield from _condition(self.seen)


def _outbox(seen: Seen) -> Iterator[Metric]:
    queue, status, bounds = seen.status.queue, seen.status, seen.bounds
    yield _gauges(
        "honchod_outbox_events",
        "Events that wait, and dead letters that wait for an operator.",
        "state",
        {"queued": queue.pending, "dead": queue.dead},
    )
    yield _gauge("honchod_outbox_max_events", "How many events may be held.", bounds.max_rows)
    yield _gauge("honchod_outbox_max_bytes", "How large the database may become.", bounds.max_bytes)
    yield _gauge(
        "honchod_oldest_pending_seconds", "Age of the oldest waiting event.", queue.oldest_age_s or 0
    )
    yield _gauge("honchod_content_bytes", "Bytes of content held.", queue.bytes)
    yield _gauge("honchod_database_bytes", "Used size of the database.", status.database_bytes)
    yield _gauge("honchod_wal_bytes", "Size of the write-ahead log.", status.wal_bytes)
    yield _gauge(
        "honchod_salvages_unacknowledged",
        "Times that a damaged database was replaced by what could be saved, until an operator acknowledges.",
        status.unacknowledged,
    )
    yield _gauge("honchod_writer_queue", "Operations that wait for the writer.", status.writer.queued)


def _delivery(status: Status) -> Iterator[Metric]:
    delivery = status.delivery
    yield _gauge("honchod_events_in_flight", "Events on their way.", status.queue.in_flight)
    yield _gauge("honchod_paused", "1 while an operator has paused the delivery.", delivery.paused)
    yield CounterMetricFamily(
        "honchod_upstream_requests", "Calls to Honcho since the start.", value=delivery.requests
    )
    yield CounterMetricFamily(
        "honchod_reconciled_events",
        "Events that were found at Honcho after an attempt of unknown outcome.",
        value=delivery.reconciled,
    )
    yield _gauges(
        "honchod_circuit_open",
        "1 while the circuit of a host is not closed.",
        "host",
        {each.host: each.circuit != "closed" for each in status.destinations},
    )
    yield _states(status.destinations)
    yield _gauges(
        "honchod_underived_events",
        "Delivered events that Honcho is not known to have derived from.",
        "host",
        {
            each.host: each.delivered - each.derived
            for each in status.destinations
            if each.derived is not None
        },
    )


def _states(destinations: list[DestinationView]) -> Metric:
    family = GaugeMetricFamily(
        "honchod_destination_state",
        "1 for the state that a host's destination is in.",
        labels=["host", "state"],
    )
    for destination in destinations:
        for state in DESTINATION_STATES:
            family.add_metric([destination.host, state], float(destination.state == state))
    return family


def _cache(status: Status) -> Iterator[Metric]:
    cache = status.cache
    yield _gauge("honchod_cache_entries", "Entries of the recall cache.", cache.entries)
    lookups = CounterMetricFamily(
        "honchod_cache_lookups", "Recalls, by what the cache had for them.", labels=["result"]
    )
    for result, count in (("hit", cache.hits), ("miss", cache.misses), ("stale", cache.stale)):
        lookups.add_metric([result], count)
    yield lookups


def _drop_box(status: Status) -> Metric:
    drop = status.drop
    return _gauges(
        "honchod_drop_files",
        "Requests in the drop box: those that wait, and those that could not be taken in.",
        "state",
        {"waiting": drop.waiting, "bad": drop.bad},
    )


def _condition(seen: Seen) -> Iterator[Metric]:
    yield _gauges(
        "honchod_stuck",
        "1 while a part of the daemon makes no progress.",
        "part",
        {part: part in seen.health.stuck for part in PARTS},
    )
    yield _gauge(
        "honchod_notices", "Notices in the status that an operator should read.", len(seen.status.notices)
    )
    yield _gauge("honchod_disk_free_bytes", "Room on the disk of the outbox.", seen.free_bytes)
    yield _gauge("honchod_uptime_seconds", "Time since the start.", seen.status.uptime_s)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=float(value))


def _gauges(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], float(value))
    return family

"""Prometheus metrics. Bounded labels: states, outcomes, hosts; never a session, a peer or a key."""

from __future__ import annotations

import threading
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from honchod.delivery.circuit import CircuitState
from honchod.delivery.deliver import Result
from honchod.delivery.worker import Worker
from honchod.outbox.store import Outbox
from honchod.outbox.views import Overview

_COMMIT_BUCKETS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
_GROUP_BUCKETS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_DELIVERY_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """A registry of its own; gauges are set when it is rendered."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._lock = threading.Lock()
        registry = self._registry
        self._events = Gauge(
            "honchod_events", "Events held by the outbox, by state.", ["state"], registry=registry
        )
        self._delivered_ever = Counter(
            "honchod_events_delivered", "Events that Honcho took from this process.", registry=registry
        )
        self._oldest = Gauge(
            "honchod_oldest_pending_seconds", "Age of the oldest event that waits.", registry=registry
        )
        self._commit = Histogram(
            "honchod_commit_duration_seconds",
            "Time of one group commit.",
            buckets=_COMMIT_BUCKETS,
            registry=registry,
        )
        self._group = Histogram(
            "honchod_group_size", "Operations in one commit.", buckets=_GROUP_BUCKETS, registry=registry
        )
        self._delivery = Histogram(
            "honchod_delivery_duration_seconds",
            "Time of one delivery, look-ups included.",
            ["outcome"],
            buckets=_DELIVERY_BUCKETS,
            registry=registry,
        )
        self._circuit = Gauge(
            "honchod_circuit_open",
            "1 while the circuit of a host is not closed.",
            ["host"],
            registry=registry,
        )
        self._in_flight = Gauge("honchod_events_in_flight", "Events in flight.", registry=registry)
        self._bytes = Gauge("honchod_content_bytes", "Bytes of content held.", registry=registry)
        self._wal = Gauge("honchod_wal_bytes", "Size of the WAL.", registry=registry)
        self._database = Gauge("honchod_database_bytes", "Used size of the database.", registry=registry)

    def committed(self, seconds: float, operations: int) -> None:
        """A group was committed (called in the writer thread)."""
        self._commit.observe(seconds)
        self._group.observe(operations)

    def delivered(self, result: Result) -> None:
        """A delivery ended."""
        outcome = "delivered" if result.verdict is None else result.verdict.outcome.value
        self._delivery.labels(outcome).observe(result.ms / 1000)
        self._delivered_ever.inc(result.delivered)

    def render(self, seen: Overview, worker: Worker, outbox: Outbox, *, now_ms: int, now_s: float) -> bytes:
        """The text that Prometheus scrapes."""
        with self._lock:
            counts = seen.counts
            for state in ("queued", "delivered", "dead", "discarded"):
                self._events.labels(state).set(getattr(counts, state))
            oldest = seen.oldest_queued_at_ms
            self._oldest.set(0 if oldest is None else max(0, now_ms - oldest) / 1000)
            for destination in worker.destinations.values():
                for host in destination.hosts:
                    self._circuit.labels(host).set(destination.circuit.state is not CircuitState.CLOSED)
            self._in_flight.set(worker.in_flight)
            self._bytes.set(counts.bytes)
            self._wal.set(outbox.wal_bytes())
            self._database.set(seen.database_bytes)
            return generate_latest(self._registry)

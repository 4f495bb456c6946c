"""Prometheus metrics: what is counted while it happens. What is looked up when it asks is in ``exposition``.

Labels are bounded: states, outcomes, hosts, routes; never a session, a peer or a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from honchod.delivery.deliver import Result
from honchod.delivery.outcome import Outcome
from honchod.ops.answers import Answers
from honchod.ops.exposition import Exposition, Seen
from honchod.outbox.states import State

_COMMIT_BUCKETS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
_GROUP_BUCKETS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_DELIVERY_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_DELIVERED: Final = "delivered"
_REFUSED_WRITE: Final = ("POST /v1/messages", 507)
"""What an alert looks for: a counter that is not there before its first event shows no increase."""


class Metrics:
    """A registry of its own. All but `answered` may be told from any thread."""

    def __init__(self, facts: Mapping[str, str]) -> None:
        """``facts`` are the labels of ``honchod_build_info``: versions."""
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = CollectorRegistry()
        self._exposition = Exposition()
        registry.register(self._exposition)
        ProcessCollector(registry=registry)
        Info("honchod_build", "Versions.", registry=registry).info(dict(facts))
        self._events = Counter(
            "honchod_events",
            "Events that came into a state since the start.",
            ["state"],
            registry=registry,
        )
        for state in State:
            self._events.labels(state.value)
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
        for outcome in (_DELIVERED, *Outcome):
            self._delivery.labels(str(outcome))
        self._deliveries = Counter(
            "honchod_deliveries",
            "Deliveries by host and by what came of them.",
            ["host", "outcome"],
            registry=registry,
        )
        self._answers = Answers(_REFUSED_WRITE)
        registry.register(self._answers)
        self.answered = self._answers.count
        """Told route, status and seconds of every answer of the socket; by the event loop alone."""

    def committed(self, seconds: float, operations: int, entered: Mapping[State, int]) -> None:
        """A group was committed; so many events came into each of these states."""
        self._commit.observe(seconds)
        self._group.observe(operations)
        for state, events in entered.items():
            self._events.labels(state.value).inc(events)

    def delivered(self, host: str, result: Result) -> None:
        """A delivery to a host's destination ended."""
        outcome = _DELIVERED if result.verdict is None else result.verdict.outcome.value
        self._delivery.labels(outcome).observe(result.ms / 1000)
        self._deliveries.labels(host, outcome).inc()

    def render(self, seen: Seen) -> bytes:
        """The text that Prometheus scrapes."""
        self._exposition.seen = seen
        return generate_latest(self._registry)

"""The answers of the socket, counted: the one instrument that every request moves.

A counter and a histogram of the Prometheus library cost a request some 5 µs for their locks and labels; this
one is told by the event loop alone, and makes families of samples when it is asked for them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

BOUNDS_S: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0)
_LIMITS: Final = (*map(floatToGoString, BOUNDS_S), "+Inf")


class _Times:
    """How long the answers of one route took: how many within each bound, and in all."""

    __slots__ = ("numbers", "sum_s")

    def __init__(self) -> None:
        self.numbers = [0] * len(_LIMITS)
        self.sum_s = 0.0


class Answers(Collector):
    """Counts answers by route and status. ``expected`` are shown from the start, at 0."""

    def __init__(self, *expected: tuple[str, int]) -> None:
        self._numbers: dict[tuple[str, int], int] = dict.fromkeys(expected, 0)
        self._times: dict[str, _Times] = {}

    def count(self, route: str, status: int, seconds: float) -> None:
        """A request was answered. ``route`` is the pattern of a path, never the path itself."""
        answer = route, status
        self._numbers[answer] = self._numbers.get(answer, 0) + 1
        times = self._times.get(route)
        if times is None:
            times = self._times[route] = _Times()
        times.numbers[bisect_left(BOUNDS_S, seconds)] += 1
        times.sum_s += seconds

    def collect(self) -> Iterator[Metric]:
        """The families."""
        requests = CounterMetricFamily(
            "honchod_requests", "Requests on the socket.", labels=["route", "status"]
        )
        for (route, status), number in self._numbers.items():
            requests.add_metric([route, str(status)], number)
        yield requests
        took = HistogramMetricFamily(
            "honchod_request_duration_seconds",
            "Time from a request's arrival to its answer.",
            labels=["route"],
        )
        for route, times in self._times.items():
            buckets = list(zip(_LIMITS, accumulate(times.numbers), strict=True))
            took.add_metric([route], buckets, sum_value=times.sum_s)
        yield took

"""The last hour of the queue, in memory."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

SPAN_S: Final = 3600.0
INTERVAL_S: Final = 10.0
_SAMPLES: Final = int(SPAN_S / INTERVAL_S) + 1
_MINUTE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Sample:
    """The queue at one moment (monotonic). ``delivered`` counts all deliveries ever."""

    at_s: float
    pending: int
    delivered: int


class History:
    """Keeps one sample for each ``INTERVAL_S`` of the last hour."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=_SAMPLES)

    def add(self, sample: Sample) -> None:
        """Remember a sample; the oldest one goes."""
        self._samples.append(sample)

    def since(self, now_s: float) -> tuple[Sample, ...]:
        """The samples of the hour before ``now_s``, oldest first."""
        return tuple(sample for sample in self._samples if now_s - sample.at_s <= SPAN_S)


def delivered_by_minute(samples: tuple[Sample, ...], now_s: float) -> list[int]:
    """Deliveries of each of the last 60 minutes, oldest first. What lies between two samples counts for the
    minute of the later one.
    """
    minutes = [0] * int(SPAN_S / _MINUTE_S)
    for earlier, later in pairwise(samples):
        ago = int((now_s - later.at_s) // _MINUTE_S)
        if ago < len(minutes):
            minutes[-1 - ago] += max(0, later.delivered - earlier.delivered)
    return minutes

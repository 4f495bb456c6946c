"""Samples and what is said of them. A ratio is taken pair by pair, so that a slow moment hits both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle of some samples and the quartiles around it."""

    median: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least one sample."""
        ordered = sorted(values)
        return cls(median(ordered), _at(ordered, 0.25), _at(ordered, 0.75), len(ordered))


@dataclass(frozen=True, slots=True)
class Pair:
    """One measurement of ours and one of the yardstick, taken one right after the other."""

    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """Ours in units of the yardstick."""
        return self.ours / self.theirs


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

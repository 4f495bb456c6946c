"""A row of the table: what was measured, against what, with which goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from bench.spread import Pair, Spread


class Sense(Enum):
    """On which side of its bound a value is good."""

    AT_MOST = "≤"
    AT_LEAST = "≥"


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on a ratio, or on a value in the row's unit where there is no yardstick."""

    sense: Sense
    bound: float

    def met(self, value: float) -> bool:
        """Whether ``value`` is good."""
        return value <= self.bound if self.sense is Sense.AT_MOST else value >= self.bound


@dataclass(frozen=True, slots=True)
class Row:
    """One result. ``value`` is what the goal is about; ``ours`` and ``theirs`` are in ``unit``."""

    what: str
    yardstick: str
    unit: str
    ours: Spread
    theirs: Spread | None
    value: Spread
    goal: Goal | None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        return None if self.goal is None else self.goal.met(self.value.median)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that could not be measured, and why."""

    what: str
    yardstick: str
    reason: str
    failed: bool = False
    """It should have been possible."""


Result = Row | Skipped


def compared(
    what: str, yardstick: str, unit: str, pairs: Sequence[Pair], goal: Goal | None, *, note: str = ""
) -> Row:
    """A row about the ratio of pairs."""
    return Row(
        what,
        yardstick,
        unit,
        Spread.of([pair.ours for pair in pairs]),
        Spread.of([pair.theirs for pair in pairs]),
        Spread.of([pair.ratio for pair in pairs]),
        goal,
        note,
    )


def counted(what: str, unit: str, values: Sequence[float], goal: Goal | None, *, note: str = "") -> Row:
    """A row about values that stand for themselves."""
    spread = Spread.of(values)
    return Row(what, "", unit, spread, None, spread, goal, note)


def at_most(bound: float) -> Goal:
    """Good when no larger."""
    return Goal(Sense.AT_MOST, bound)


def at_least(bound: float) -> Goal:
    """Good when no smaller."""
    return Goal(Sense.AT_LEAST, bound)

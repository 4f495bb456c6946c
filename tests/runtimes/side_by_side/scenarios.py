"""What is compared: how long a turn waits for memory, and what becomes of messages when there is trouble."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from runtimes.side_by_side.trial import Fate, Provider, running_trial

KILLS = 3
"""So often the plug is pulled."""


@dataclass(frozen=True)
class Plan:
    """How much is said in each scenario."""

    waiting_turns: int
    killed_turns: int
    refused_turns: int
    cut_turns: int


FULL = Plan(waiting_turns=20, killed_turns=10, refused_turns=20, cut_turns=60)
QUICK = Plan(waiting_turns=6, killed_turns=4, refused_turns=4, cut_turns=20)


@dataclass(frozen=True)
class Waits:
    """How long turns waited for memory, in milliseconds."""

    median_ms: float
    worst_ms: float


@dataclass(frozen=True)
class Outcome:
    """What one provider did."""

    provider: Provider
    waits_slow: Waits
    waits_away: Waits
    killed: Fate
    killed_away: Fate
    refused: Fate
    cut: Fate


def outcome(provider: Provider, plan: Plan) -> Outcome:
    """All scenarios with one provider, one after the other."""
    return Outcome(
        provider,
        waits_slow=slow(provider, plan.waiting_turns),
        waits_away=away(provider, plan.waiting_turns),
        killed=killed(provider, plan.killed_turns),
        killed_away=killed_away(provider, plan.killed_turns),
        refused=refused(provider, plan.refused_turns),
        cut=cut(provider, plan.cut_turns),
    )


def slow(provider: Provider, turns: int) -> Waits:
    """Honcho answers everything after 500 ms."""
    with running_trial(provider, "*: delay=0.5") as trial:
        trial.talk(turns)
        return _waits(trial.waited_ms)


def away(provider: Provider, turns: int) -> Waits:
    """Nobody listens where Honcho should be."""
    with running_trial(provider) as trial:
        trial.network.take_down()
        trial.talk(turns)
        return _waits(trial.waited_ms)


def killed(provider: Provider, turns: int) -> Fate:
    """Honcho answers after 500 ms; the user has the last answer, and the plug is pulled."""
    return _sum(_killed(provider, turns) for _ in range(KILLS))


def killed_away(provider: Provider, turns: int) -> Fate:
    """Half of the turns fall into an outage of Honcho, in which the plug is pulled; then Honcho is back."""
    return _sum(_killed_away(provider, turns) for _ in range(KILLS))


def refused(provider: Provider, turns: int) -> Fate:
    """Honcho answers 503 for the whole run, and is well again before the next one."""
    with running_trial(provider, "*: status=503") as trial:
        trial.talk(turns)
        trial.leave()
        trial.network.heal()
        trial.hermes.start()
        trial.hermes.say("Good morning.")
        trial.leave()
        return trial.fate()


def cut(provider: Provider, turns: int) -> Fate:
    """Of all answers 5 % are cut after Honcho has committed."""
    with running_trial(provider, "*: cut-after-commit p=0.05 seed=1") as trial:
        trial.talk(turns)
        trial.leave()
        return trial.fate()


def _killed(provider: Provider, turns: int) -> Fate:
    with running_trial(provider, "*: delay=0.5") as trial:
        trial.talk(turns)
        trial.pull_the_plug()
        trial.come_back()
        trial.leave()
        return trial.fate()


def _killed_away(provider: Provider, turns: int) -> Fate:
    with running_trial(provider) as trial:
        trial.talk(turns - turns // 2)
        trial.hermes.settle()
        trial.network.take_down()
        trial.talk(turns // 2)
        trial.pull_the_plug()
        trial.network.heal()
        trial.come_back()
        trial.leave()
        return trial.fate()


def _sum(fates: Iterable[Fate]) -> Fate:
    return sum(fates, Fate(0, 0, 0))


def _waits(waited_ms: list[float]) -> Waits:
    return Waits(statistics.median(waited_ms), max(waited_ms))

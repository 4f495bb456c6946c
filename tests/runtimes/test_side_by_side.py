"""What the comparison says of our provider holds, in fewer turns than ``make side-by-side`` takes."""

from __future__ import annotations

from runtimes.side_by_side.scenarios import cut, refused
from runtimes.side_by_side.trial import Fate, Provider


def test_a_honcho_that_answers_503_for_a_whole_run_costs_nothing() -> None:
    assert refused(Provider.OURS, turns=3) == Fate(said=6, lost=0, duplicates=0)


def test_answers_that_are_cut_after_the_commit_cost_nothing_and_double_nothing() -> None:
    assert cut(Provider.OURS, turns=12) == Fate(said=24, lost=0, duplicates=0)

"""Levels, depth and cadence: the tables."""

from __future__ import annotations

from itertools import product

import pytest

from honchod.identity.choices import ReasoningLevel as Level
from honchod.recall import reasoning
from honchod.recall.reasoning import LEVELS

LENGTHS = {0: 0, 119: 0, 120: 1, 399: 1, 400: 2, 10_000: 2}


@pytest.mark.parametrize(("chars", "bump"), LENGTHS.items())
def test_long_messages_raise_the_level(chars: int, bump: int) -> None:
    assert reasoning.bumped(Level.MINIMAL, chars, Level.HIGH) is LEVELS[bump]
    assert reasoning.bumped(Level.LOW, chars, Level.HIGH) is LEVELS[1 + bump]


@pytest.mark.parametrize(("floor", "chars", "cap"), list(product(LEVELS, LENGTHS, LEVELS)))
def test_a_bump_keeps_the_floor_the_cap_and_never_reaches_max(floor: Level, chars: int, cap: Level) -> None:
    level = reasoning.bumped(floor, chars, cap)
    assert LEVELS.index(level) >= LEVELS.index(floor)
    if level is not floor:
        assert LEVELS.index(level) <= LEVELS.index(cap)
        assert level is not Level.MAX


def test_the_tools_have_floors_of_their_own() -> None:
    assert reasoning.bumped(reasoning.RECALL_FLOOR, 0, Level.HIGH) is Level.MINIMAL
    assert reasoning.bumped(reasoning.RECALL_FLOOR, 500, Level.HIGH) is Level.MEDIUM
    assert reasoning.bumped(reasoning.ANALYZE_FLOOR, 0, Level.HIGH) is Level.MEDIUM
    assert reasoning.bumped(reasoning.ANALYZE_FLOOR, 500, Level.HIGH) is Level.HIGH


@pytest.mark.parametrize(
    ("given", "dynamic", "expected"),
    [
        (Level.MAX, True, Level.MAX),
        (Level.MINIMAL, True, Level.MINIMAL),
        (None, True, Level.LOW),
        (Level.MAX, False, Level.LOW),
        (None, False, Level.LOW),
    ],
)
def test_an_asked_level_counts_where_the_model_may_choose(
    given: Level | None, dynamic: bool, expected: Level
) -> None:
    assert reasoning.asked(given, Level.LOW, dynamic=dynamic) is expected


def test_passes_have_proportional_levels_unless_told_otherwise() -> None:
    assert reasoning.pass_levels(1, Level.HIGH) == (Level.HIGH,)
    assert reasoning.pass_levels(2, Level.HIGH) == (Level.MINIMAL, Level.HIGH)
    assert reasoning.pass_levels(3, Level.HIGH) == (Level.MINIMAL, Level.HIGH, Level.LOW)
    overrides = (Level.LOW, Level.MEDIUM, Level.MAX)
    assert reasoning.pass_levels(3, Level.HIGH, overrides) == overrides
    assert reasoning.pass_levels(2, Level.HIGH, overrides) == overrides[:2]
    assert reasoning.pass_levels(3, Level.HIGH, (Level.MAX,)) == (Level.MAX, Level.HIGH, Level.LOW)


@pytest.mark.parametrize(
    ("answer", "strong"),
    [
        ("", False),
        ("x" * 299, False),
        ("x" * 300, True),
        (" " * 300 + "x", False),
        ("- one\n- two", False),
        ("- one\n" + "y" * 100, True),
        ("1. one\n" + "y" * 100, True),
        ("## Head\n" + "y" * 100, True),
        ("one - two " + "y" * 100, False),
    ],
)
def test_a_long_or_structured_answer_is_strong(answer: str, strong: bool) -> None:
    assert reasoning.is_strong(answer) is strong


@pytest.mark.parametrize(
    ("answer", "nothing"),
    [
        ("", True),
        ("  \n", True),
        ("I don't know anything about ann yet.", True),
        ("I don’t have any information about this person.", True),
        ("I do not currently have any observations of them.", True),
        ("Unfortunately, I don't have enough to go on.", True),
        ("There is no information about ann.", True),
        ("No relevant data was found.", True),
        ("Nothing is known yet.", True),
        ("Ann lives in Lisbon. I don't know more.", False),
        ("I don't know her age, but " + "she likes long walks. " * 12, False),
        ("No, she moved.", False),
    ],
)
def test_an_answer_that_only_says_that_nothing_is_known_is_none(answer: str, nothing: bool) -> None:
    assert reasoning.says_nothing(answer) is nothing


def test_context_is_due_every_so_many_turns() -> None:
    assert reasoning.context_due(1, None, 3)
    assert [turn for turn in range(1, 8) if reasoning.context_due(turn, 1, 3)] == [4, 5, 6, 7]


def test_the_dialectic_is_due_by_its_cadence_and_ever_more_seldom_when_it_says_nothing() -> None:
    def first_due(empty: int) -> int:
        return next(turn for turn in range(200) if reasoning.dialectic_due(turn, 0, 2, empty=empty))

    assert reasoning.dialectic_due(1, None, 2, empty=9)
    assert [first_due(empty) for empty in range(6)] == [2, 4, 8, 16, 32, 32]


def test_an_unused_answer_lives_for_twice_its_cadence() -> None:
    assert [turn for turn in range(3, 12) if not reasoning.is_outlived(3, turn, 2)] == [3, 4, 5, 6, 7]

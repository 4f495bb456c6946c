"""What a recall shows of what is held."""

from __future__ import annotations

from honchod.identity.choices import Section
from honchod.recall.cache import Entry
from honchod.recall.parts import Parts
from honchod.recall.showing import show
from honchod.recall.supplements import Supplement

NOW_S = 1_000.0


def entry(age_s: float, **texts: str) -> Entry:
    return Entry(Parts(**texts), NOW_S - age_s, 0, NOW_S, 0)


def test_each_section_comes_from_its_answer_and_has_its_age() -> None:
    shown = show(
        entry(10, summary="s", user_representation="known", user_card="c"),
        entry(20, ai_representation="a", ai_card="b"),
        entry(5, user_representation="found"),
        Supplement("d", 1, NOW_S - 3),
        now_s=NOW_S,
    )
    assert shown.parts == Parts("s", "found\nknown", "c", "a", "b", "d")
    assert shown.oldest_s == 20
    assert shown.ages_s[Section.SUMMARY] == shown.ages_s[Section.USER_REPRESENTATION] == 10
    assert shown.ages_s[Section.AI_CARD] == 20
    assert shown.ages_s[Section.DIALECTIC] == 3


def test_what_is_not_held_is_not_shown() -> None:
    shown = show(None, None, None, None, now_s=NOW_S)
    assert shown.parts.is_empty
    assert shown.oldest_s is None


def test_a_clock_that_was_set_back_makes_nothing_younger_than_new() -> None:
    assert show(entry(-5, summary="s"), None, None, None, now_s=NOW_S).oldest_s == 0.0

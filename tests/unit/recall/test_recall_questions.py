"""What the dialectic is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.recall import questions

MAX = 10_000


def test_the_starting_question_depends_on_what_is_known() -> None:
    cold = questions.first(cold=True, query=None, max_chars=MAX)
    warm = questions.first(cold=False, query=None, max_chars=MAX)
    assert cold != warm
    assert questions.first(cold=True, query="where do I live?", max_chars=MAX) == "where do I live?"


def test_the_second_pass_audits_the_first_and_the_third_reconciles_both() -> None:
    audit = questions.following(["likes tea"], MAX)
    assert "likes tea" in audit
    final = questions.following(["likes tea", "likes coffee"], MAX)
    assert "likes tea" in final
    assert "likes coffee" in final
    assert final != audit


def test_braces_in_an_answer_are_only_braces() -> None:
    assert "{prior} {x}" in questions.following(["{prior} {x}"], MAX)


def test_long_answers_are_cut_at_words_and_the_question_stays() -> None:
    final = questions.following(["tea " * 2_000, "coffee " * 2_000], 1_000)
    assert len(final) <= 1_000
    assert "tea…" in final
    assert "coffee…" in final
    assert final.endswith("the conversation.")


@given(st.lists(st.text(max_size=300), min_size=1, max_size=2), st.integers(1, 800))
def test_every_question_keeps_its_bound(answers: list[str], max_chars: int) -> None:
    assert len(questions.following(answers, max_chars)) <= max_chars


@pytest.mark.parametrize("max_chars", [1, 50, 10_000])
def test_a_first_question_keeps_its_bound(max_chars: int) -> None:
    assert len(questions.first(cold=True, query="word " * 5_000, max_chars=max_chars)) <= max_chars

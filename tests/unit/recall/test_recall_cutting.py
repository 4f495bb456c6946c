"""Cutting text where a reader would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.recall.cutting import WORD_CHARS, cut


@pytest.mark.parametrize(
    ("text", "chars", "expected"),
    [
        ("short", 5, "short"),
        ("one two three", 8, "one two…"),
        ("one two three", 9, "one two…"),
        ("one two three", 7, "one…"),
        ("one\ntwo", 5, "one…"),
        ("extraordinary things", 8, ""),
        ("word", 1, ""),
        ("word", 0, ""),
        ("中文没有空格的句子很长", 5, "中文没有…"),
        ("a" * 200, 101, "a" * 100 + "…"),
        ("x " + "a" * 200, 101, "x " + "a" * 98 + "…"),
        ("ééé" + "e\u0301" * 3, 6, "ééée\u0301…"),
        ("👍🏽👍🏽👍🏽", 4, "👍🏽…"),
        ("👨\u200d👩\u200d👧👧", 4, ""),
    ],
)
def test_it_ends_after_a_whole_word_or_character(text: str, chars: int, expected: str) -> None:
    assert cut(text, chars) == expected


@given(st.text(alphabet="ab \n中é\u0301\u200d", max_size=300), st.integers(-1, 300))
def test_a_cut_is_a_beginning_within_its_bound(text: str, chars: int) -> None:
    shorter = cut(text, chars)
    if len(text) <= chars:
        assert shorter == text
        return
    assert len(shorter) <= max(0, chars)
    if shorter:
        assert shorter.endswith("…")
        assert text.startswith(shorter[:-1])


@given(
    st.lists(st.text(alphabet="abc", min_size=1, max_size=20), min_size=1, max_size=40), st.integers(30, 200)
)
def test_no_word_is_ever_cut(words: list[str], chars: int) -> None:
    text = " ".join(words)
    kept = cut(text, chars).removesuffix("…").split()
    assert kept == words[: len(kept)]
    assert max(len(word) for word in words) < WORD_CHARS

"""A stream cut into units: nothing that is only harmless as a whole is taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.memory.speech import HELD_CHARS, UNIT_CHARS, Units

LONG = "word " * 20


def units(pieces: list[str]) -> list[tuple[str, str]]:
    cutter = Units()
    given_ = [unit for piece in pieces if (unit := cutter.feed(piece)) is not None]
    rest = cutter.rest()
    return given_ if rest is None else [*given_, rest]


def test_a_unit_ends_after_a_word_once_it_is_long_enough() -> None:
    assert units([LONG, "next"]) == [(LONG.rstrip(), " "), ("next", "")]
    assert units(["short ", "text"]) == [("short text", "")]


@pytest.mark.parametrize(
    "whole",
    [
        f"{LONG}<memory-context attribute of it> done {LONG}",
        f"{LONG}memory - context {LONG}",
        f"{LONG}Bearer abcdefghijkl {LONG}",
        f"{LONG}-----BEGIN PRIVATE KEY----- abc def -----END PRIVATE KEY----- {LONG}",
    ],
)
def test_nothing_is_cut_in_the_middle_of_what_must_stay_together(whole: str) -> None:
    together = whole.removeprefix(LONG).removesuffix(LONG).strip().removesuffix("done").strip()
    assert any(together in text for text, _ in units(list(whole)))


def test_an_opening_that_never_closes_holds_nothing_up_for_ever() -> None:
    said = units(["<", "a b " * HELD_CHARS, "c"])
    assert len(said) > 1


@given(st.lists(st.text(alphabet="ab <>\n-", max_size=UNIT_CHARS), max_size=20))
def test_no_word_is_lost_or_moved(pieces: list[str]) -> None:
    joined = "".join(text + gap for text, gap in units(pieces))
    assert joined.split() == "".join(pieces).split()

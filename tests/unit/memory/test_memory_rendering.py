"""What a model reads: fenced, marked, and never an empty string."""

from __future__ import annotations

from honchod.memory import rendering
from honchod.memory.results import CardResult, Item, Items, PackResult, Said
from honchod.recall.fence import CLOSING, OPENING


def is_fenced(text: str) -> bool:
    return text.startswith(OPENING) and text.endswith(CLOSING)


def test_items_show_ids_speakers_and_what_is_pending() -> None:
    items = Items(
        [
            Item("c1", "drinks tea", "conclusion", True, "al"),
            Item("m1", "hello", "message", False, "al", session="s"),
        ],
        truncated=False,
    )
    text = rendering.items(items)
    assert is_fenced(text)
    assert "- [c1] (pending) drinks tea\n- [m1] al: hello" in text


def test_what_is_missing_for_a_failure_is_said() -> None:
    text = rendering.items(Items([Item("c1", "x", "conclusion", True, "al")], False, failure="search: away"))
    assert "Only what waits here: search: away" in text


def test_nothing_is_said_in_words() -> None:
    assert rendering.NOTHING_FOUND in rendering.items(Items([], truncated=False))
    assert rendering.NO_CARD in rendering.card(CardResult("al", []))
    assert rendering.NOTHING_KNOWN in rendering.pack(PackResult("al", "", "", [], []))


def test_a_pack_has_only_the_headings_that_have_something_under_them() -> None:
    text = rendering.pack(PackResult("al", "", "likes tea", [], [Said("al", "hi")]))
    assert "# What is known of al\nlikes tea\n\n# The latest messages\nal: hi" in text
    assert "The session so far" not in text

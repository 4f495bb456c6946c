"""From parts and a budget to a block: the order, what is cut first, cold and warm."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.identity.choices import Section
from honchod.recall.assemble import CUT_ORDER, HEADINGS, INTRODUCTION, assemble
from honchod.recall.fence import OVERHEAD_CHARS
from honchod.recall.parts import EMPTY, Parts

ALL = frozenset(Section)
FULL = Parts(
    summary="They planned a move.",
    user_representation="Ann lives in Lisbon.",
    user_card="Name: Ann",
    ai_representation="Bot is terse.",
    ai_card="Name: Bot",
    dialectic="Ann is settling in.",
)
WORDS = st.text(alphabet="ab \n", max_size=400).map(str.strip)


def block(parts: Parts, budget: int | None = None, **more: Any) -> Any:
    return assemble(parts, more.pop("sections", ALL), budget, **more)


def test_sections_come_in_a_fixed_order() -> None:
    text = block(FULL).text
    places = [text.index(HEADINGS[section]) for section in Section]
    assert places == sorted(places)
    assert [text.index(part) for _, part in FULL.present()] == sorted(
        text.index(part) for _, part in FULL.present()
    )


@pytest.mark.parametrize("section", Section)
def test_a_section_that_is_off_is_left_out(section: Section) -> None:
    made = block(FULL, sections=ALL - {section})
    assert FULL.of(section) not in made.text
    assert HEADINGS[section] not in made.text
    assert made.parts.of(section) == ""
    assert made.truncated == ()


def test_the_summary_goes_first_and_the_card_stays_whole() -> None:
    """C44: 100 tokens, a summary of 2,000 characters, a card of 120."""
    card = "fact " * 24
    made = block(Parts(summary="word " * 400, user_card=card.strip()), 400)
    assert len(made.text) <= 400
    assert made.parts.user_card == card.strip()
    assert made.truncated == (Section.SUMMARY,)
    assert made.parts.summary.endswith("word…")
    assert len(made.parts.summary) > 50


def test_cutting_follows_its_order_down_to_the_last_card() -> None:
    parts = Parts(**{section.value: f"{section.value} " * 60 for section in Section})
    gone: list[Section] = []
    for budget in range(len(block(parts).text), 0, -5):
        made = block(parts, budget)
        assert len(made.text) <= budget
        for section in CUT_ORDER:
            if not made.parts.of(section) and section not in gone:
                gone.append(section)
    assert tuple(gone) == CUT_ORDER


def test_cards_are_not_cut_while_anything_else_is_left() -> None:
    parts = Parts(**{section.value: "word " * 80 for section in Section})
    cards = {Section.USER_CARD, Section.AI_CARD}
    for budget in range(200, 3_000, 37):
        made = block(parts, budget)
        if cards & set(made.truncated):
            assert {section for section, _ in made.parts.present()} <= cards


def test_a_section_that_is_not_there_is_not_named_as_cut() -> None:
    card = "fact " * 100
    made = block(Parts(user_card=card.strip()), 400)
    assert made.truncated == (Section.USER_CARD,)
    assert card.startswith(made.parts.user_card.removesuffix("…"))


@given(st.builds(Parts, WORDS, WORDS, WORDS, WORDS, WORDS, WORDS), st.integers(0, 1_500))
def test_what_is_named_as_cut_is_what_was_cut(parts: Parts, budget: int) -> None:
    made = block(parts, budget)
    assert len(made.text) <= budget
    changed = tuple(section for section in Section if made.parts.of(section) != parts.of(section))
    assert made.truncated == changed
    for section in changed:
        cut = made.parts.of(section)
        assert cut == "" or (cut.endswith("…") and parts.of(section).startswith(cut[:-1]))


def test_a_budget_below_the_fence_gives_nothing() -> None:
    made = block(FULL, OVERHEAD_CHARS)
    assert made.text == ""
    assert made.truncated == tuple(Section)
    assert made.approx_tokens == 0


def test_without_a_budget_nothing_is_cut() -> None:
    long = Parts(summary="word " * 10_000)
    assert block(long).truncated == ()


def test_without_prior_context_it_is_the_light_introduction() -> None:
    made = block(EMPTY)
    assert INTRODUCTION in made.text
    assert made.parts.is_empty
    assert block(EMPTY, introduce=False).text == ""
    assert block(EMPTY, sections=frozenset({Section.AI_CARD})).text == ""
    assert block(EMPTY, len(made.text) - 1).text == ""


def test_what_the_ai_knows_of_itself_stands_beside_the_introduction() -> None:
    made = block(Parts(ai_card="Name: Bot"))
    assert made.text.index(INTRODUCTION) < made.text.index("Name: Bot")
    tight = block(Parts(ai_card="Name: Bot"), len(made.text) - 1)
    assert INTRODUCTION not in tight.text
    assert "Name: Bot" in tight.text


@pytest.mark.parametrize("section", [Section.SUMMARY, Section.USER_REPRESENTATION, Section.USER_CARD])
def test_anything_known_of_the_user_or_the_session_is_warm(section: Section) -> None:
    assert INTRODUCTION not in block(Parts(**{section.value: "something"})).text


def test_tokens_are_about_four_characters() -> None:
    made = block(FULL)
    assert made.approx_tokens == (len(made.text) + 3) // 4


def test_parts_know_what_they_hold() -> None:
    assert EMPTY.is_empty
    assert not FULL.is_empty
    assert FULL.size == sum(len(text) for _, text in FULL.present())
    assert FULL.only(frozenset({Section.AI_CARD})) == Parts(ai_card="Name: Bot")

"""From the parts of a recall and a budget to the block of text that stands in the prompt. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from honchod.identity.choices import Section
from honchod.recall import fence
from honchod.recall.cutting import cut
from honchod.recall.parts import Parts

CHARS_PER_TOKEN: Final = 4

HEADINGS: Final[Mapping[Section, str]] = {
    Section.SUMMARY: "# The session so far",
    Section.USER_REPRESENTATION: "# What is known of the user",
    Section.USER_CARD: "# The user's card",
    Section.AI_REPRESENTATION: "# What is known of you",
    Section.AI_CARD: "# Your card",
    Section.DIALECTIC: "# What memory makes of it",
}
INTRODUCTION: Final = (
    "Nothing is known of the user yet. Get to know them: what they tell about themselves will be remembered."
)

CUT_ORDER: Final = (
    Section.SUMMARY,
    Section.DIALECTIC,
    Section.AI_REPRESENTATION,
    Section.USER_REPRESENTATION,
    Section.AI_CARD,
    Section.USER_CARD,
)
"""What goes first when there is too much: the summary; the cards only when nothing else is left."""

WORTHWHILE_CHARS: Final = 24
"""A section of which less than this would be left goes as a whole."""

_REMEMBERED: Final = 128
"""Blocks that were made lately: the same parts make the same block."""

_ABOUT_THE_USER: Final = frozenset({Section.SUMMARY, Section.USER_REPRESENTATION, Section.USER_CARD})


@dataclass(frozen=True, slots=True)
class Block:
    """The text for the prompt, "" when there is nothing to say or no room to say it.

    ``parts`` are the sections as they stand in it; ``truncated`` those that were cut or left out for want of
    room, in the order of the block.
    """

    text: str
    parts: Parts
    truncated: tuple[Section, ...]

    @property
    def approx_tokens(self) -> int:
        """About how many tokens the text has."""
        return -(-len(self.text) // CHARS_PER_TOKEN)


@lru_cache(_REMEMBERED)
def assemble(
    parts: Parts, sections: frozenset[Section], budget_chars: int | None, *, introduce: bool = True
) -> Block:
    """The block of these sections within the budget (None: no bound), the fence included.

    Without any prior context of the user it is the light introduction (unless told not to ``introduce``),
    with whatever is known of the AI.
    """
    texts = dict(parts.only(sections).present())
    is_cold = introduce and bool(_ABOUT_THE_USER & sections) and not _ABOUT_THE_USER & texts.keys()
    truncated = _fit(texts, budget_chars) if budget_chars is not None else frozenset()
    kept = Parts(**{section.value: text for section, text in texts.items()})
    chunks = [f"{HEADINGS[section]}\n{text}" for section, text in kept.present()]
    if is_cold and _fits([INTRODUCTION, *chunks], budget_chars):
        chunks.insert(0, INTRODUCTION)
    return Block(
        text=fence.enclose("\n\n".join(chunks)) if chunks else "",
        parts=kept,
        truncated=tuple(section for section in Section if section in truncated),
    )


def _fit(texts: dict[Section, str], budget_chars: int) -> frozenset[Section]:
    """Shorten and drop texts, in the order of `CUT_ORDER`, until the block fits. Returns what was cut."""
    truncated = set()
    for section in CUT_ORDER:
        over = _length([f"{HEADINGS[one]}\n{text}" for one, text in texts.items()]) - budget_chars
        if over <= 0:
            break
        text = texts.pop(section, "")
        if not text:
            continue
        truncated.add(section)
        room = len(text) - over
        shorter = cut(text, room) if room >= WORTHWHILE_CHARS else ""
        if shorter:
            texts[section] = shorter
    return frozenset(truncated)


def _fits(chunks: list[str], budget_chars: int | None) -> bool:
    return budget_chars is None or _length(chunks) <= budget_chars


def _length(chunks: list[str]) -> int:
    return fence.OVERHEAD_CHARS + len("\n\n".join(chunks))

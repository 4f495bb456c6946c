"""When Honcho is asked to reason, how hard and how often in a row. Pure: the tables of the design.

Three things that do not depend on each other: cadence (when), depth (how many passes), level (how hard).
"""

from __future__ import annotations

import re
from typing import Final

from honchod.identity.choices import ReasoningLevel

LEVELS: Final = tuple(ReasoningLevel)
BUMP_CHARS: Final = (120, 400)
"""A human message of so many characters raises the level by one, by two."""
RECALL_FLOOR: Final = ReasoningLevel.MINIMAL
"""The floor of the tool ``honcho_recall``."""
ANALYZE_FLOOR: Final = ReasoningLevel.MEDIUM
"""The floor of the tool ``honcho_analyze``."""

STRONG_CHARS: Final = 300
"""An answer of this length needs no second pass."""
STRONG_STRUCTURED_CHARS: Final = 100
"""Nor does a shorter one that comes as a list or under headings."""
NOTHING_CHARS: Final = 240
"""An answer that is longer than this says something, however it begins."""
BACKOFF_DOUBLINGS_MAX: Final = 4
OUTLIVED_CADENCES: Final = 2

_NOTHING: Final = re.compile(
    r"(?:i'm sorry,? |sorry,? |unfortunately,? )?(?:but )?"
    r"(?:i (?:do not|don['’]t) (?:yet |currently )?(?:have|know)"
    r"|(?:there (?:is|are) )?(?:currently )?no (?:\w+ ){0,2}"
    r"(?:information|data|observations|conclusions|memor)"
    r"|nothing is (?:yet )?known)",
    re.IGNORECASE,
)
_STRUCTURE: Final = re.compile(r"^\s*(?:[-*•]|#+|\d{1,3}[.)])\s+\S", re.MULTILINE)


def bumped(floor: ReasoningLevel, human_chars: int, cap: ReasoningLevel) -> ReasoningLevel:
    """The level of a call that nobody gave one: the floor, raised by the length of the human message.

    It is never raised above ``cap``, and never to ``max``; a floor that is above stays.
    """
    bump = sum(human_chars >= chars for chars in BUMP_CHARS)
    base = LEVELS.index(floor)
    top = min(LEVELS.index(cap), LEVELS.index(ReasoningLevel.HIGH))
    return LEVELS[max(base, min(base + bump, top))]


def asked(given: ReasoningLevel | None, configured: ReasoningLevel, *, dynamic: bool) -> ReasoningLevel:
    """The level of ``honcho_reasoning``: the given one where the model may choose, else the configured."""
    return given if given is not None and dynamic else configured


def pass_levels(
    depth: int, base: ReasoningLevel, overrides: tuple[ReasoningLevel, ...] = ()
) -> tuple[ReasoningLevel, ...]:
    """The level of each pass. Passes that the overrides do not name follow from ``base``."""
    levels = {
        1: (base,),
        2: (ReasoningLevel.MINIMAL, base),
        3: (ReasoningLevel.MINIMAL, base, ReasoningLevel.LOW),
    }[depth]
    return overrides[:depth] + levels[len(overrides) :]


def says_nothing(answer: str) -> bool:
    """Whether an answer is none: empty, or a short one that says no more than that nothing is known."""
    text = answer.strip()
    return not text or (len(text) <= NOTHING_CHARS and _NOTHING.match(text) is not None)


def is_strong(answer: str) -> bool:
    """Whether an answer needs no audit: long, or shorter and in order."""
    text = answer.strip()
    if len(text) >= STRONG_CHARS:
        return True
    return len(text) >= STRONG_STRUCTURED_CHARS and _STRUCTURE.search(text) is not None


def context_due(turns: int, last: int | None, cadence: int) -> bool:
    """Whether the base context is asked for at the end of this turn. ``last`` None: it never was."""
    return last is None or turns - last >= cadence


def dialectic_due(turns: int, last: int | None, cadence: int, *, empty: int) -> bool:
    """Whether the dialectic is asked at the end of this turn.

    With each answer in a row that said nothing (``empty``) the cadence doubles, up to sixteenfold.
    """
    if last is None:
        return True
    return turns - last >= cadence << min(empty, BACKOFF_DOUBLINGS_MAX)


def is_outlived(made_at_turn: int, turns: int, cadence: int) -> bool:
    """Whether a dialectic answer that nobody has used is too old: older than twice its cadence."""
    return turns - made_at_turn > OUTLIVED_CADENCES * cadence

"""What the dialectic is asked, pass by pass. Pure; every question fits the configured bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from honchod.recall.cutting import cut

COLD: Final = (
    "Who is this person? What do they do, what do they prefer, what are they after, and how do they like to "
    "be helped? Give what would be most useful to somebody who meets them for the first time."
)
WARM: Final = (
    "Given what this person has talked about lately, what about them matters most for the conversation that "
    "is going on? Prefer what is current to what is biography."
)
_AUDIT: Final = (
    "A first assessment says:\n\n{prior}\n\nWhat is missing in it, and what in it is not supported by what "
    "is known? Give a corrected synthesis: the person's present situation and needs, from evidence."
)
_RECONCILE: Final = (
    "Two assessments were made.\n\nThe first:\n\n{first}\n\nThe second:\n\n{second}\n\n"
    "Where do they disagree? Settle it from evidence, and give one short final account of what matters for "
    "the conversation."
)


def first(*, cold: bool, query: str | None, max_chars: int) -> str:
    """The question of the first pass: the query itself, where there is one."""
    return cut(query or (COLD if cold else WARM), max_chars)


def following(answers: Sequence[str], max_chars: int) -> str:
    """The question of the pass after these answers: an audit of one, the reconciling of two."""
    if len(answers) == 1:
        return _filled(_AUDIT, max_chars, prior=answers[0])
    return _filled(_RECONCILE, max_chars, first=answers[0], second=answers[1])


def _filled(template: str, max_chars: int, **answers: str) -> str:
    """The template with its answers, each cut to its share of the room that the template leaves."""
    room = max_chars - len(template.format(**dict.fromkeys(answers, "")))
    share = max(0, room // len(answers))
    return cut(template.format(**{name: cut(text, share) for name, text in answers.items()}), max_chars)

"""Chat: an answer made of what is held, the same for the same question."""

from __future__ import annotations

import json
import re
from typing import Final

from .ranking import distance, words_of
from .store import HeldConclusion

_FACTS: Final = 5
_PIECE = re.compile(r"\S+\s*|\s+")


def answer(query: str, observed: str, card: list[str] | None, known: list[HeldConclusion]) -> str:
    """What is known of ``observed`` that shares words with the query, else the latest that is known."""
    facts = list(card or []) + [one.row.content for one in known]
    if not facts:
        return f"I don't know anything about {observed} yet."
    wanted = words_of(query)
    near = sorted((fact for fact in facts if distance(wanted, fact) < 1), key=lambda f: distance(wanted, f))
    chosen = near[:_FACTS] or facts[-_FACTS:]
    return f"What I know about {observed}: " + "; ".join(chosen)


def as_events(text: str) -> bytes:
    """The answer as a stream of server-sent events, a word each, with the closing one."""
    events = [{"delta": {"content": piece}, "done": False} for piece in _PIECE.findall(text)]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in [*events, {"done": True}]).encode()

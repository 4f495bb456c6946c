"""From Honcho's answers to parts that may stand in a prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from honchod.outbox.cache import CacheKey
from honchod.recall.fence import LINE_CHARS, clean
from honchod.recall.look import packed_tokens, sight_in
from honchod.recall.parts import Parts

if TYPE_CHECKING:
    from honchod.gateway.memory import Memory

IN_LOOP_CHARS: Final = 8_192
"""More text than this is cleaned in a thread: the loop has others to serve."""


@dataclass(frozen=True, slots=True)
class SearchBounds:
    """How much a query looks for, from the ``[recall]`` section."""

    top_k: int
    max_conclusions: int


async def fetch(memory: Memory, key: CacheKey, query: str | None, bounds: SearchBounds) -> Parts:
    """The answer for a key; ``query`` is the text behind its digest. Raises `CallFailed`."""
    sight = sight_in(key)
    if key.query:
        if sight is None or query is None:
            raise ValueError("a query is asked with its text, about somebody")
        text = await memory.found(query, sight, top_k=bounds.top_k, max_conclusions=bounds.max_conclusions)
        return await _cleaned(
            len(text), lambda: Parts(user_representation=clean(text, line_chars=LINE_CHARS))
        )
    if not key.session:
        own = await memory.of_itself(key.target)
        return await _cleaned(
            len(own.representation),
            lambda: Parts(
                ai_representation=clean(own.representation, line_chars=LINE_CHARS), ai_card=_card(own.card)
            ),
        )
    view = await memory.of_session(key.session, sight, tokens=packed_tokens(key.tokens))
    return await _cleaned(
        len(view.summary) + len(view.representation),
        lambda: Parts(
            summary=clean(view.summary),
            user_representation=clean(view.representation, line_chars=LINE_CHARS),
            user_card=_card(view.card),
        ),
    )


async def _cleaned(chars: int, make: Callable[[], Parts]) -> Parts:
    if chars <= IN_LOOP_CHARS:
        return make()
    return await asyncio.get_running_loop().run_in_executor(None, make)


def _card(lines: Sequence[str]) -> str:
    return clean("\n".join(" ".join(line.split()) for line in lines), line_chars=LINE_CHARS)

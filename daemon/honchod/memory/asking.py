"""Asking the dialectic. The model's own question resets the cadence of the automatic ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from honchod.errors import CallFailed, CallReason
from honchod.gateway.values import NO_SCOPE, NOT_FOUND, Sight
from honchod.identity.choices import ReasoningLevel
from honchod.identity.host import Dialectic
from honchod.identity.place import Place
from honchod.memory import tasks
from honchod.memory.reach import Reach
from honchod.memory.rendering import NOTHING_KNOWN
from honchod.memory.results import AskResult
from honchod.memory.speech import Units
from honchod.memory.veil import Veil
from honchod.memory.visit import Visit
from honchod.recall import reasoning

if TYPE_CHECKING:
    from honchod.gateway.gateway import Gateway

TIMEOUT_S: Final = 60.0
"""For the whole answer: a model may think for long."""
ANSWER_CHARS: Final = 16_000
ASK: Final = "ask the dialectic"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer, harmless by itself."""

    text: str


class Asking:
    """Asks, and gives the answer piece by piece or whole."""

    def __init__(self, reach: Reach, veil: Veil, reasoned: Callable[[Place], None]) -> None:
        self._reach = reach
        self._veil = veil
        self._reasoned = reasoned

    async def ask(self, visit: Visit, task: tasks.Ask) -> AskResult:
        """The whole answer."""
        async with aclosing(self.stream(visit, task)) as parts:
            async for part in parts:
                if isinstance(part, AskResult):
                    return part
        raise AssertionError("a stream ends with its result or a problem")

    async def stream(self, visit: Visit, task: tasks.Ask) -> AsyncGenerator[Piece | AskResult, None]:
        """The answer in pieces, then whole. Close it to end the call to Honcho.

        The whole is what counts: a secret that no piece shows as one is hidden in it.
        """
        query = await self._veil.query(task.query)
        level = level_of(task, visit.host.dialectic, len(query))
        sight = visit.sight(task.peer)
        raw: list[str] = []
        units = Units()
        said = self._reach.stream(
            visit.way, ASK, lambda gateway: _said(gateway, query, sight, level, scoped=visit.scoped)
        )
        async with aclosing(said) as pieces:
            async for piece in pieces:
                raw.append(piece)
                unit = units.feed(piece)
                if unit is not None:
                    yield await self._piece(*unit)
        rest = units.rest()
        if rest is not None:
            yield await self._piece(*rest)
        self._reasoned(visit.place)
        yield AskResult(await self._veil.shown("".join(raw), ANSWER_CHARS), level.value)

    async def _piece(self, text: str, gap: str) -> Piece:
        return Piece(await self._veil.shown(text, ANSWER_CHARS) + gap)


def level_of(task: tasks.Ask, dialectic: Dialectic, chars: int) -> ReasoningLevel:
    """The level of a question of so many characters. Pure."""
    if task.floor is not None:
        return reasoning.bumped(task.floor, chars, dialectic.level_cap)
    return reasoning.asked(task.level, dialectic.level, dynamic=dialectic.dynamic)


class _Next(Enum):
    """What follows a stream that failed before a word."""

    NOTHING = auto()
    AGAIN = auto()
    EVERYWHERE = auto()


async def _said(
    gateway: Gateway, query: str, sight: Sight, level: ReasoningLevel, *, scoped: bool, again: bool = False
) -> AsyncGenerator[str, None]:
    """The answer under the scope; where Honcho knows none, and nobody asked for it, the global one. Of a peer
    that Honcho has never met, that nothing is known.
    """
    spoke = False
    said = gateway.dialogue.stream(query, sight, level, timeout_s=TIMEOUT_S)
    try:
        async with aclosing(said) as pieces:
            async for piece in pieces:
                spoke = True
                yield piece
    except CallFailed as failure:
        following = None if spoke else await _next(gateway, sight, failure, scoped=scoped, again=again)
        if following is None:
            raise
    else:
        return
    if following is _Next.NOTHING:
        yield NOTHING_KNOWN
        return
    if following is _Next.EVERYWHERE:
        sight = replace(sight, scope=None)
    rest = _said(gateway, query, sight, level, scoped=scoped, again=following is _Next.AGAIN)
    async with aclosing(rest) as pieces:
        async for piece in pieces:
            yield piece


async def _next(
    gateway: Gateway, sight: Sight, failure: CallFailed, *, scoped: bool, again: bool
) -> _Next | None:
    if failure.reason is CallReason.EMPTY:
        # A stream about nobody is as empty as one without a model; and they may have met a moment ago.
        if not await gateway.memory.knows(sight.target):
            return _Next.NOTHING
        return None if again else _Next.AGAIN
    if sight.scope is None:
        return _Next.NOTHING if failure.status == NOT_FOUND else None
    return _Next.EVERYWHERE if failure.status in NO_SCOPE and not scoped else None

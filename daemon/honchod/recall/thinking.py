"""Asking the dialectic: so many passes, each at its level, until an answer is good enough."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import structlog

from honchod.clock import Clock
from honchod.delivery.outcome import Step, judge
from honchod.delivery.routes import Route
from honchod.errors import CallFailed
from honchod.gateway.pool import GatewayPool
from honchod.gateway.values import Sight
from honchod.identity.choices import ReasoningLevel
from honchod.recall import questions
from honchod.recall.fence import clean
from honchod.recall.gate import Gates
from honchod.recall.reasoning import is_strong, says_nothing

if TYPE_CHECKING:
    from honchod.gateway.memory import Memory

log = structlog.get_logger("honchod.recall")

TIMEOUT_S: Final = 60.0
"""For one pass: a model may think for long, and nobody waits."""


@dataclass(frozen=True, slots=True)
class Train:
    """One train of thought: about whom, at which level each pass, beginning with which question."""

    sight: Sight
    levels: tuple[ReasoningLevel, ...]
    question: str
    max_input_chars: int


class Thinking:
    """Runs trains of thought, one at a time for each destination."""

    def __init__(self, pool: GatewayPool, gates: Gates, clock: Clock) -> None:
        self._pool = pool
        self._gates = gates
        self._clock = clock

    def is_possible(self, route: Route) -> bool:
        """Whether the destination may be asked now."""
        return not self._gates.is_shut(route.destination)

    async def run(self, route: Route, workspace: str, train: Train) -> str | None:
        """The last answer that says something, cleaned; "" when none did, None when it could not be asked."""
        async with self._gates.of(route.destination).reasonings:
            if not self.is_possible(route):
                return None
            try:
                gateway = await self._pool.get(route.destination, route.endpoint(workspace))
                return await _think(gateway.memory, train)
            except CallFailed as failure:
                verdict = judge(failure, Step.LOOK, now_ms=self._clock.now_ms())
                self._gates.failed(route.destination, verdict)
                log.warning("dialectic.failed", host=route.host.name, code=failure.code)
            except asyncio.CancelledError:
                raise
            except Exception as error:
                log.error("dialectic.broke", host=route.host.name, error=type(error).__name__)
        return None


async def _think(memory: Memory, train: Train) -> str:
    """A failed pass after a good one costs nothing but itself."""
    answers: list[str] = []
    question = train.question
    for level in train.levels:
        try:
            answer = clean(await memory.reason(question, train.sight, level, timeout_s=TIMEOUT_S))
        except CallFailed:
            if not answers:
                raise
            break
        if says_nothing(answer):
            break
        answers.append(answer)
        if is_strong(answer) and len(answers) == 1:
            break
        if len(answers) < len(train.levels):
            question = questions.following(answers, train.max_input_chars)
    return answers[-1] if answers else ""

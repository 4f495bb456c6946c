"""Calls to Honcho for somebody who waits: not made while it is known to be away, and failures told apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, TypeVar

import structlog

from honchod.clock import Clock
from honchod.delivery.outcome import Step, judge
from honchod.delivery.routes import Route
from honchod.errors import CallFailed, CallReason
from honchod.gateway.pacing import urgent
from honchod.gateway.pool import GatewayPool
from honchod.memory.failures import problem_of, shut
from honchod.recall.gate import Gates

if TYPE_CHECKING:
    from honchod.gateway.gateway import Gateway

log = structlog.get_logger("honchod.memory")

T = TypeVar("T")


class Reach:
    """The way to Honcho. What a method raises is a Problem that says whether trying again helps."""

    def __init__(self, pool: GatewayPool, gates: Gates, clock: Clock) -> None:
        self._pool = pool
        self._gates = gates
        self._clock = clock

    async def call(
        self,
        route: Route,
        what: str,
        call: Callable[[Gateway], Awaitable[T]],
        *,
        wait_s: float | None = None,
    ) -> T:
        """Make one or more calls; ``what`` they do is told when they fail.

        ``wait_s`` is how long to wait for them, where that is less than a call may take.
        """
        async with self._gates.of(route.destination).reads:
            gateway = await self._gateway(route, what)
            with self._judged(route, what), urgent():
                answer = await _within(wait_s, call(gateway))
        self._gates.answered(route.destination)
        return answer

    async def stream(
        self, route: Route, what: str, call: Callable[[Gateway], AsyncGenerator[str, None]]
    ) -> AsyncGenerator[str, None]:
        """The pieces of an answer. Close it to end the call."""
        gateway = await self._gateway(route, what)
        with self._judged(route, what):
            async with aclosing(call(gateway)) as pieces:
                async for piece in pieces:
                    yield piece
        self._gates.answered(route.destination)

    async def _gateway(self, route: Route, what: str) -> Gateway:
        if self._gates.is_shut(route.destination):
            raise shut(what)
        return await self._pool.get(route.destination, route.endpoint(route.host.workspace))

    @contextmanager
    def _judged(self, route: Route, what: str) -> Iterator[None]:
        try:
            yield
        except CallFailed as failure:
            verdict = judge(failure, Step.LOOK, now_ms=self._clock.now_ms())
            self._gates.failed(route.destination, verdict)
            log.warning("tool.failed", host=route.host.name, code=failure.code)
            raise problem_of(verdict, what) from None


async def _within(wait_s: float | None, answer: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(wait_s):
            return await answer
    except TimeoutError:
        raise CallFailed(CallReason.TIMEOUT) from None

"""Whether a destination may be asked now, and how many at a time may ask. Recall's own: delivery has its
lanes, and neither waits for the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from honchod.clock import Clock
from honchod.delivery.circuit import Circuit, CircuitState
from honchod.delivery.outcome import Outcome, Verdict
from honchod.delivery.retry import Policy, ceiling_s

READS: Final = 4
"""More requests at a time gain nothing with Honcho."""
REASONINGS: Final = 1
"""An answer of the dialectic takes seconds of a model's time."""
SETUPS: Final = 1
"""Nobody waits for a session to be made."""
PAUSE_MAX_S: Final = 60.0

_AWAY: Final = frozenset({Outcome.THROTTLED, Outcome.UNREACHABLE, Outcome.REFUSED})

CircuitOf = Callable[[str], Circuit | None]
"""The circuit that delivery keeps of a destination."""


@dataclass(slots=True)
class Gate:
    """One destination, as recall knows it. ``failures`` in a row; asked again at ``until_s`` (monotonic)."""

    reads: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(READS))
    reasonings: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(REASONINGS))
    setups: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(SETUPS))
    failures: int = 0
    until_s: float = 0.0


class Gates:
    """The gates of all destinations."""

    def __init__(self, circuit_of: CircuitOf, policy: Callable[[], Policy], clock: Clock) -> None:
        self._circuit_of = circuit_of
        self._policy = policy
        self._clock = clock
        self._gates: dict[str, Gate] = {}

    def of(self, destination: str) -> Gate:
        """The gate of a destination."""
        gate = self._gates.get(destination)
        if gate is None:
            gate = self._gates[destination] = Gate()
        return gate

    def is_shut(self, destination: str) -> bool:
        """Whether it must not be asked now: it failed a moment ago, or delivery knows that it is away."""
        if self._clock.monotonic_s() < self.of(destination).until_s:
            return True
        circuit = self._circuit_of(destination)
        if circuit is None or circuit.state is CircuitState.CLOSED:
            return False
        now_ms = self._clock.now_ms()
        is_waiting = now_ms < circuit.until_ms <= now_ms + self._policy().longest_wait_ms
        # Half-open: one lane is probing; its answer will tell.
        return circuit.state is CircuitState.HALF_OPEN or is_waiting

    def is_failing(self, destination: str) -> bool:
        """Whether the last attempt failed, or none can be made."""
        return self.of(destination).failures > 0 or self.is_shut(destination)

    def answered(self, destination: str) -> None:
        """It answered."""
        gate = self.of(destination)
        gate.failures, gate.until_s = 0, 0.0

    def failed(self, destination: str, verdict: Verdict) -> bool:
        """A request failed. Where the destination is away or asks for a pause, it is left alone for a while,
        and True is returned; a failure of this one request is no news of the destination.
        """
        if verdict.outcome not in _AWAY and verdict.answered:
            return False
        gate = self.of(destination)
        gate.failures += 1
        policy = self._policy()
        pause_s = min(PAUSE_MAX_S, ceiling_s(gate.failures, policy))
        if verdict.retry_after_s is not None:
            pause_s = max(pause_s, min(verdict.retry_after_s, policy.retry_after_cap_s))
        gate.until_s = self._clock.monotonic_s() + pause_s
        return True

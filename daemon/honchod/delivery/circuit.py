"""The circuit of one destination and credential: a state machine of values. No I/O, no clock of its own.

::

    closed ──refused, throttled, unreachable, silent──▶ open
      ▲                                                  │ its time is up
      └────────────an answer──────── half-open ◀─────────┘
                                        └──the same again──▶ open, for longer

Half-open lets one lane through. After an outage the destination is opened slowly: one lane, then twice as
many with each success. Throttling halves it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

SILENT_LIMIT: Final = 3
"""So many attempts in a row without any answer open the circuit."""


class CircuitState(StrEnum):
    """Whether requests may pass."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Reason(StrEnum):
    """Why a circuit is not closed."""

    NONE = "none"
    REFUSED = "refused"
    THROTTLED = "throttled"
    UNREACHABLE = "unreachable"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Circuit:
    """``width`` is how many lanes may be in flight when it is closed; ``until_ms`` is wall clock."""

    width: int
    state: CircuitState = CircuitState.CLOSED
    reason: Reason = Reason.NONE
    failures: int = 0
    until_ms: int = 0
    silent: int = 0


def allows(circuit: Circuit, *, in_flight: int, now_ms: int, longest_wait_ms: int) -> bool:
    """Whether one more lane may be sent. An open circuit whose time is up lets one through, alone.

    A time further ahead than any wait can be comes from a clock that jumped, and counts as up.
    """
    if circuit.state is CircuitState.CLOSED:
        return in_flight < circuit.width
    if circuit.state is CircuitState.HALF_OPEN:
        return False
    return in_flight == 0 and not now_ms < circuit.until_ms <= now_ms + longest_wait_ms


def probing(circuit: Circuit) -> Circuit:
    """One lane was let through an open circuit."""
    return replace(circuit, state=CircuitState.HALF_OPEN)


def unprobed(circuit: Circuit) -> Circuit:
    """The lane that was let through came back without having asked: open again, as before."""
    if circuit.state is not CircuitState.HALF_OPEN:
        return circuit
    return replace(circuit, state=CircuitState.OPEN)


def succeeded(circuit: Circuit, *, limit: int) -> Circuit:
    """Honcho took something. Closes a probed circuit; widens a closed one up to ``limit``."""
    if circuit.state is CircuitState.OPEN:
        return circuit
    width = circuit.width if circuit.state is CircuitState.HALF_OPEN else circuit.width * 2
    return Circuit(width=max(1, min(width, limit)))


def answered(circuit: Circuit, *, limit: int) -> Circuit:
    """There was an answer, though not a success: somebody is there. Closes a probed circuit, no more."""
    if circuit.state is CircuitState.HALF_OPEN:
        return succeeded(circuit, limit=limit)
    return replace(circuit, silent=0)


def throttled(circuit: Circuit, *, until_ms: int) -> Circuit:
    """The destination asked for a pause: open until then, half as wide after it."""
    if circuit.state is CircuitState.OPEN and circuit.reason is Reason.THROTTLED:
        return replace(circuit, until_ms=max(circuit.until_ms, until_ms))
    return _opened(circuit, Reason.THROTTLED, until_ms, width=max(1, circuit.width // 2))


def refused(circuit: Circuit, *, until_ms: int) -> Circuit:
    """The key is not accepted: open, probed now and then."""
    return _opened(circuit, Reason.REFUSED, until_ms, width=1)


def unreachable(circuit: Circuit, *, until_ms: int) -> Circuit:
    """Nobody is there: open for a backoff, and slowly after it."""
    return _opened(circuit, Reason.UNREACHABLE, until_ms, width=1)


def silent(circuit: Circuit, *, until_ms: int) -> Circuit:
    """An attempt got no answer: opens a probed circuit, and a closed one after `SILENT_LIMIT` in a row."""
    if circuit.state is CircuitState.OPEN:
        return circuit
    count = circuit.silent + 1
    if circuit.state is CircuitState.CLOSED and count < SILENT_LIMIT:
        return replace(circuit, silent=count)
    return replace(_opened(circuit, Reason.SILENT, until_ms, width=1), silent=count)


def retried(circuit: Circuit, *, now_ms: int) -> Circuit:
    """An operator asks, or the configuration changed: probe at once. A pause that was asked for stands."""
    if circuit.state is not CircuitState.OPEN or circuit.reason is Reason.THROTTLED:
        return circuit
    return replace(circuit, until_ms=now_ms)


def failures_for(circuit: Circuit, reason: Reason) -> int:
    """The number of the next failure in a row for this reason: 1 for the first."""
    return circuit.failures + 1 if circuit.reason is reason else 1


def _opened(circuit: Circuit, reason: Reason, until_ms: int, *, width: int) -> Circuit:
    if (
        circuit.state is CircuitState.OPEN
        and circuit.reason is Reason.THROTTLED
        and reason is not circuit.reason
    ):
        # News of a lane that was sent before the pause: nothing may cut short what was asked for.
        return circuit
    # Lanes that were in flight together fail together: that is one failure, not several.
    together = circuit.state is CircuitState.OPEN and circuit.reason is reason
    failures = circuit.failures if together else failures_for(circuit, reason)
    until = circuit.until_ms if together else until_ms
    return Circuit(width, CircuitState.OPEN, reason, failures, until)

"""What a connection is waiting for, how long it may wait, and which one goes when there are too many.

Pure decisions about values; the connections act on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final, TypeVar

from honchod.ops.views import LimitsView

T = TypeVar("T")

CLOSING_S: Final = 1.0
"""How long a closed connection may take to hand over what it still holds before it is cut."""


class Phase(Enum):
    """Where a connection stands."""

    IDLE = "idle"
    """Between requests: nothing of the next one has come."""
    ARRIVING = "arriving"
    """A request has begun to come and is not complete."""
    WORKING = "working"
    """The daemon is at work on a complete request."""
    SENDING = "sending"
    """An answer is on its way to the peer."""
    CLOSING = "closing"
    """Closed on this side; what was written may still be on its way."""


_WAITING: Final = frozenset((Phase.IDLE, Phase.ARRIVING, Phase.SENDING))


def allowed_s(phase: Phase, limits: LimitsView) -> float | None:
    """How long a connection may stay in a phase. None: as long as the daemon needs."""
    match phase:
        case Phase.IDLE:
            return limits.idle_s
        case Phase.ARRIVING | Phase.SENDING:
            return limits.arrival_s
        case Phase.CLOSING:
            return CLOSING_S
        case Phase.WORKING:
            return None


def sweep_interval_s(limits: LimitsView) -> float:
    """How often to look for connections that stayed too long: often enough to be at most 10 % late."""
    return min(max(min(limits.idle_s, limits.arrival_s) / 10, 0.01), 1.0)


def first_to_go(connections: Iterable[tuple[Phase, float, T]]) -> T | None:
    """Which connection makes room for a new one, of (phase, in it since, connection).

    The one whose peer has kept the daemon waiting longest, idle or slow alike: so slow peers cannot shut the
    others out, and one that has only just come is the last to go. None when the daemon is at work for all.
    """
    waiting = (one for one in connections if one[0] in _WAITING)
    longest = min(waiting, key=lambda one: one[1], default=None)
    return None if longest is None else longest[2]

"""The states of an event and the only legal changes between them.

::

    queued ──▶ delivered
      │  ▲
      │  └───── retry ─────┐
      ├──────▶ dead ───────┘
      │          │
      └──────────┴──▶ discarded

There is no state for "leased": in flight is a fact about the lane. The same table drives the code, the
CHECK constraint of the schema and the property tests.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import Final

from honchod.errors import IllegalTransition


class State(StrEnum):
    """Where an event stands."""

    QUEUED = "queued"
    """On disk, waiting for its turn."""
    DELIVERED = "delivered"
    """Honcho has it. Terminal."""
    DEAD = "dead"
    """A dead letter: it waits for an operator."""
    DISCARDED = "discarded"
    """Given up by an operator, or forgotten on request. Terminal."""


TRANSITIONS: Final = MappingProxyType(
    {
        State.QUEUED: frozenset({State.DELIVERED, State.DEAD, State.DISCARDED}),
        State.DELIVERED: frozenset[State](),
        State.DEAD: frozenset({State.QUEUED, State.DISCARDED}),
        State.DISCARDED: frozenset[State](),
    }
)
"""For each state, where an event may go from there."""

TERMINAL: Final = frozenset(state for state, following in TRANSITIONS.items() if not following)
"""States that nothing leaves: what may be pruned."""


def check(source: State, target: State) -> None:
    """Raise `IllegalTransition` unless an event may go from ``source`` to ``target``."""
    if target not in TRANSITIONS[source]:
        raise IllegalTransition(f"{source} -> {target}")

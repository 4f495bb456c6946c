"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes of a run. More rounds make the medians steadier, not different."""

    rounds: int
    calls: int
    """Single calls in each round of a latency."""
    burst_s: float
    """How long each burst of load lasts."""
    waiting: int
    """Rows that wait, where many do."""
    backlog: int
    """Messages of the backlog that is delivered, and the sessions they are in."""
    backlog_sessions: int
    backlog_rounds: int
    batches: int
    """Batches that are leased and settled."""
    starts: int
    arrivals: int
    commands: int
    idle_s: float
    peer_burst_s: float


FULL: Final = Plan(
    rounds=15,
    calls=100,
    burst_s=1.0,
    waiting=1_000_000,
    backlog=20_000,
    backlog_sessions=200,
    backlog_rounds=3,
    batches=80,
    starts=9,
    arrivals=40,
    commands=25,
    idle_s=60.0,
    peer_burst_s=3.0,
)
QUICK: Final = Plan(
    rounds=4,
    calls=50,
    burst_s=0.4,
    waiting=100_000,
    backlog=4_000,
    backlog_sessions=40,
    backlog_rounds=1,
    batches=40,
    starts=3,
    arrivals=10,
    commands=7,
    idle_s=10.0,
    peer_burst_s=1.0,
)
FEW_WAITING: Final = 10_000
"""What many waiting rows are compared with."""

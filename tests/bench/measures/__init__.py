"""The rows of the table, by what they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from bench.measures import acks, arrival, backlog, commands, crowd, delivery, idle, peers, recall, waiting
from bench.rig import Rig
from bench.rows import Result

Measure = Callable[[Rig], Iterator[Result]]

MEASURES: Final[dict[str, Measure]] = {
    "acks": acks.measure,
    "recall": recall.measure,
    "crowd": crowd.measure,
    "delivery": delivery.measure,
    "arrival": arrival.measure,
    "backlog": backlog.measure,
    "waiting": waiting.measure,
    "idle": idle.measure,
    "commands": commands.measure,
    "peers": peers.measure,
}
"""In the order of the table. ``backlog`` is in process, ``waiting`` is about the daemon as a process."""

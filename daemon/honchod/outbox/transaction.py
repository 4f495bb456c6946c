"""What the writer runs: operations, each with the transaction that carries it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sqlalchemy.engine import Connection

from honchod.outbox.standing import Standing
from honchod.outbox.tally import Ledger

A = TypeVar("A")
T = TypeVar("T")


@dataclass(slots=True)
class Tx:
    """What the operations of one transaction work with, and what they share.

    ``driver`` is the same connection without Core, for compiled statements. ``standing`` is what was held
    before, and ``ledger`` what changed since: it is not in the counters yet. ``new_lanes`` are the ids of the
    lanes that the transaction made: they may yet be undone with it.
    """

    connection: Connection
    driver: sqlite3.Connection
    now_ms: int
    standing: Standing
    ledger: Ledger = field(default_factory=Ledger)
    new_lanes: set[int] = field(default_factory=set)


Operation = Callable[[Tx], T]
"""Runs in the writer thread. It may be run again when a group is repeated: it keeps no state outside."""


@dataclass(frozen=True, slots=True, eq=False)
class Joint(Generic[A, T]):
    """A kind of operation of which neighbours can be done together, in fewer statements.

    ``together`` answers for each argument in their order, or raises; ``alone`` decides about one. Both run in
    a transaction that the writer begins and commits.

    ``at_once``, where a kind has it, is ``together`` as a transaction of its own, in as few steps as can be:
    what it leaves to be counted stands in the ledger. It answers None where that way is not open, and then
    nothing has happened.
    """

    alone: Callable[[Tx, A], T]
    together: Callable[[Tx, Sequence[A]], Sequence[T]]
    at_once: Callable[[Tx, Sequence[A]], Sequence[T] | None] | None = None

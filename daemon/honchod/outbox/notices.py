"""What an operator has to know and acknowledge: kept until then, over restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec
from sqlalchemy import delete, insert, select
from sqlalchemy.engine import Connection

from honchod.outbox.schema import kept
from honchod.outbox.transaction import Tx

_PREFIX: Final = "notice."
_PUT: Final = insert(kept)
_ALL: Final = select(kept.c.value).where(kept.c.key.startswith(_PREFIX, autoescape=True)).order_by(kept.c.key)
_CLEAR: Final = delete(kept).where(kept.c.key.startswith(_PREFIX, autoescape=True))


@dataclass(frozen=True, slots=True)
class Salvaged:
    """A damaged database was replaced by what could be read of it.

    ``events`` were read whole. ``unreadable`` were waiting and could only be named: they stand in the dead
    letters. ``missing`` are those that the counters knew of and nothing names any more (None: nobody can
    tell). ``kept_as`` is the name of the damaged file, which stays beside the new one.
    """

    at_ms: int
    events: int
    unreadable: int
    missing: int | None
    kept_as: str


def put(connection: Connection, notice: Salvaged) -> None:
    """Keep a notice."""
    value = msgspec.json.encode(notice).decode()
    connection.execute(_PUT, {"key": f"{_PREFIX}{notice.kept_as}", "value": value})


def listed(connection: Connection) -> list[Salvaged]:
    """The notices that nobody has acknowledged, oldest first."""
    return [msgspec.json.decode(value, type=Salvaged) for value in connection.execute(_ALL).scalars()]


def acknowledge(tx: Tx) -> int:
    """Drop all notices. Returns how many there were."""
    return tx.connection.execute(_CLEAR).rowcount

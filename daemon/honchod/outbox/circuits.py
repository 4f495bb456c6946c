"""Circuits on disk: one per destination and credential, so that an open one survives a restart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Connection

from honchod.outbox.schema import circuit
from honchod.outbox.transaction import Tx

_FIELDS: Final = ("state", "reason", "failures", "until", "width")
_insert = insert(circuit).values({name: bindparam(name) for name in ("destination", *_FIELDS)})
_SAVE: Final = _insert.on_conflict_do_update(
    index_elements=[circuit.c.destination], set_={name: _insert.excluded[name] for name in _FIELDS}
)
_ALL: Final = select(circuit)


@dataclass(frozen=True, slots=True)
class CircuitRow:
    """A circuit as it is kept. ``until_ms`` is wall clock."""

    destination: str
    state: str
    reason: str
    failures: int
    until_ms: int
    width: int


def save(tx: Tx, row: CircuitRow) -> None:
    """Keep a circuit."""
    tx.connection.execute(
        _SAVE,
        {
            "destination": row.destination,
            "state": row.state,
            "reason": row.reason,
            "failures": row.failures,
            "until": row.until_ms,
            "width": row.width,
        },
    )


def load(connection: Connection) -> list[CircuitRow]:
    """All circuits."""
    return [
        CircuitRow(row.destination, row.state, row.reason, row.failures, row.until, row.width)
        for row in connection.execute(_ALL)
    ]

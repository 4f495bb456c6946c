"""The turns of each session as recall counts them, and where its cadences stand. Read once, at start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, bindparam, delete, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Connection

from honchod.outbox.schema import turn
from honchod.outbox.transaction import Tx
from honchod.outbox.values import LaneKey

KEPT_MS: Final = 90 * 86_400_000
"""A session in which nothing happened for so long starts over."""

_PLACE: Final = ("host", "workspace", "session")
_VALUES: Final = (
    "turns",
    "peer",
    "context_turn",
    "dialectic_turn",
    "dialectic_empty",
    "underived",
    "used_at",
)
_saved = insert(turn).values({name: bindparam(name) for name in (*_PLACE, *_VALUES)})
_SAVE: Final = _saved.on_conflict_do_update(
    index_elements=[turn.c[name] for name in _PLACE],
    set_={name: _saved.excluded[name] for name in _VALUES},
)
_FORGET: Final = delete(turn).where(turn.c.used_at < bindparam("before"), turn.c.underived == 0)
LATEST: Final = select(turn).order_by(turn.c.used_at.desc()).limit(bindparam("rows"))
ONE: Final = select(turn).where(*(turn.c[name] == bindparam(name) for name in _PLACE))
_UNDERIVED: Final = (
    select(turn.c.host, func.sum(turn.c.underived)).where(turn.c.underived > 0).group_by(turn.c.host)
)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A session's turns and cadences.

    ``turns`` have ended; ``peer`` is the person who spoke last; ``context_turn`` and ``dialectic_turn`` are
    the turns at whose end each was last asked for (None: never); ``dialectic_empty`` counts the answers in a
    row that said nothing; ``underived`` messages are with Honcho and not known to be derived.
    """

    lane: LaneKey
    turns: int = 0
    peer: str | None = None
    context_turn: int | None = None
    dialectic_turn: int | None = None
    dialectic_empty: int = 0
    underived: int = 0
    used_at_ms: int = 0


def save(tx: Tx, rows: Sequence[TurnRow]) -> None:
    """Keep these, and forget sessions in which nothing happened for a long time."""
    tx.connection.execute(
        _SAVE,
        [
            {
                **_place(row.lane),
                "turns": row.turns,
                "peer": row.peer,
                "context_turn": row.context_turn,
                "dialectic_turn": row.dialectic_turn,
                "dialectic_empty": row.dialectic_empty,
                "underived": row.underived,
                "used_at": row.used_at_ms,
            }
            for row in rows
        ],
    )
    tx.connection.execute(_FORGET, {"before": tx.now_ms - KEPT_MS})


def load(connection: Connection, limit: int) -> list[TurnRow]:
    """The sessions in which something happened last, at most so many."""
    return [_row(found) for found in connection.execute(LATEST, {"rows": limit})]


def one(connection: Connection, lane: LaneKey) -> TurnRow:
    """One session's turns; none have ended in a session that nobody knows."""
    found = connection.execute(ONE, _place(lane)).first()
    return TurnRow(lane) if found is None else _row(found)


def underived(connection: Connection) -> dict[str, int]:
    """Messages that are with Honcho and not known to be derived, by host."""
    return {row[0]: int(row[1]) for row in connection.execute(_UNDERIVED)}


def _place(lane: LaneKey) -> dict[str, str]:
    return {"host": lane.host, "workspace": lane.workspace, "session": lane.session}


def _row(found: Row[Any]) -> TurnRow:
    return TurnRow(
        lane=LaneKey(found.host, found.workspace, found.session),
        turns=found.turns,
        peer=found.peer,
        context_turn=found.context_turn,
        dialectic_turn=found.dialectic_turn,
        dialectic_empty=found.dialectic_empty,
        underived=found.underived,
        used_at_ms=found.used_at,
    )

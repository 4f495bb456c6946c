"""Sessions that were reset: which generation each is in. A session that never was has no row."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Connection

from honchod.identity.names import SessionName
from honchod.outbox import held, lanes
from honchod.outbox.schema import session_name
from honchod.outbox.transaction import Tx
from honchod.outbox.values import LaneKey

_ALL: Final = select(session_name)
_NEXT: Final = (
    insert(session_name)
    .values(
        host=bindparam("host"),
        workspace=bindparam("workspace"),
        name=bindparam("name"),
        generation=1,
        reset_at=bindparam("now"),
    )
    .on_conflict_do_update(
        index_elements=[session_name.c.host, session_name.c.workspace, session_name.c.name],
        set_={"generation": session_name.c.generation + 1, "reset_at": bindparam("now")},
    )
    .returning(session_name.c.generation)
)


def generations(reader: Connection) -> dict[SessionName, int]:
    """Every session that was ever reset."""
    return {SessionName(row.host, row.workspace, row.name): row.generation for row in reader.execute(_ALL)}


def reset(tx: Tx, name: SessionName) -> int:
    """Start the next generation, and end the session as it was. Returns the new generation."""
    values = {"host": name.host, "workspace": name.workspace, "name": name.name, "now": tx.now_ms}
    generation = int(tx.connection.execute(_NEXT, values).scalar_one())
    end(tx, LaneKey(name.host, name.workspace, name.id_of(generation - 1)))
    return generation


def end(tx: Tx, key: LaneKey) -> int:
    """Make the session's lane due now. Returns how many events wait in it.

    A lane in backoff keeps its time: that a session ended mends no server.
    """
    place = {"host": key.host, "workspace": key.workspace, "session": key.session}
    row = tx.connection.execute(lanes.PENDING, place).first()
    if row is None:
        return 0
    held.release(tx, row.id)
    return int(row.pending)

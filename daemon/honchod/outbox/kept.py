"""Small facts about this database that outlive the process."""

from __future__ import annotations

import secrets
from typing import Final

from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.engine import Connection

from honchod.outbox.schema import kept
from honchod.outbox.transaction import Tx

_GET: Final = select(kept.c.value).where(kept.c.key == bindparam("name"))
_PUT: Final = insert(kept).prefix_with("OR REPLACE")
_DROP: Final = delete(kept).where(kept.c.key == bindparam("name"))
_SALT: Final = "salt"
_DOUBT: Final = "doubt"


def salt(tx: Tx) -> bytes:
    """The random bytes of this database, made once: names derived with it are known nowhere else."""
    found = tx.connection.execute(_GET, {"name": _SALT}).scalar()
    if found is None:
        found = secrets.token_hex(16)
        tx.connection.execute(_PUT, {"key": _SALT, "value": found})
    return bytes.fromhex(found)


def doubt(connection: Connection) -> None:
    """Note that this database may not know what was delivered: it is older than the queue it stands for."""
    connection.execute(_PUT, {"key": _DOUBT, "value": "1"})


def take_doubt(tx: Tx) -> bool:
    """Whether that was noted; the note is gone with this transaction."""
    return tx.connection.execute(_DROP, {"name": _DOUBT}).rowcount == 1

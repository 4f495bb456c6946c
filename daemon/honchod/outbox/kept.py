"""Small facts about this database that outlive the process."""

from __future__ import annotations

import secrets
from typing import Final

from sqlalchemy import bindparam, insert, select

from honchod.outbox.schema import kept
from honchod.outbox.writer import Tx

_GET: Final = select(kept.c.value).where(kept.c.key == bindparam("name"))
_PUT: Final = insert(kept)
_SALT: Final = "salt"


def salt(tx: Tx) -> bytes:
    """The random bytes of this database, made once: names derived with it are known nowhere else."""
    found = tx.connection.execute(_GET, {"name": _SALT}).scalar()
    if found is None:
        found = secrets.token_hex(16)
        tx.connection.execute(_PUT, {"key": _SALT, "value": found})
    return bytes.fromhex(found)

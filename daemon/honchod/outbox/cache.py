"""The recall cache on disk, so that a restarted daemon is warm. It is read once, at start.

``parts`` is what recall made of an answer, as text; no query is stored, only the digest that its key holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Connection

from honchod.outbox.schema import cache_entry
from honchod.outbox.transaction import Tx


class CacheKey(msgspec.Struct, frozen=True, cache_hash=True):
    """What an answer is the answer to.

    ``session`` is "" for what does not depend on one, ``target`` "" where nobody is known, ``scope`` "" for
    the global view, ``tokens`` 0 without a budget, ``query`` "" for what does not depend on a query.
    """

    destination: str
    workspace: str
    session: str
    observer: str
    target: str
    scope: str
    tokens: int
    query: str


@dataclass(frozen=True, slots=True)
class CacheRow:
    """One answer. Times are wall clock; ``old`` says that Honcho has learned something since."""

    key: CacheKey
    parts: str
    fetched_at_ms: int
    used_at_ms: int
    old: bool


_KEY: Final = CacheKey.__struct_fields__
_VALUES: Final = ("parts", "fetched_at", "used_at", "old")
_insert = insert(cache_entry).values({name: bindparam(name) for name in (*_KEY, *_VALUES)})
_SAVE: Final = _insert.on_conflict_do_update(
    index_elements=[cache_entry.c[name] for name in _KEY],
    set_={name: _insert.excluded[name] for name in _VALUES},
)
REMOVE: Final = delete(cache_entry).where(*(cache_entry.c[name] == bindparam(f"of_{name}") for name in _KEY))
_CLEAR: Final = delete(cache_entry)
LATEST: Final = select(cache_entry).order_by(cache_entry.c.used_at.desc()).limit(bindparam("rows"))


def save(tx: Tx, rows: Sequence[CacheRow], removed: Sequence[CacheKey]) -> None:
    """Keep these answers, each in place of the one that its key had, and forget the ``removed`` ones."""
    if removed:
        tx.connection.execute(
            REMOVE,
            [
                {f"of_{name}": value for name, value in zip(_KEY, msgspec.structs.astuple(key), strict=True)}
                for key in removed
            ],
        )
    if rows:
        tx.connection.execute(
            _SAVE,
            [
                {
                    **dict(zip(_KEY, msgspec.structs.astuple(row.key), strict=True)),
                    "parts": row.parts,
                    "fetched_at": row.fetched_at_ms,
                    "used_at": row.used_at_ms,
                    "old": int(row.old),
                }
                for row in rows
            ],
        )


def clear(tx: Tx) -> int:
    """Forget every answer. Returns how many there were."""
    return tx.connection.execute(_CLEAR).rowcount


def load(connection: Connection, limit: int) -> list[CacheRow]:
    """The answers that were used last, at most so many, the latest first."""
    return [
        CacheRow(
            key=CacheKey(*(row._mapping[name] for name in _KEY)),
            parts=row.parts,
            fetched_at_ms=row.fetched_at,
            used_at_ms=row.used_at,
            old=bool(row.old),
        )
        for row in connection.execute(LATEST, {"rows": limit})
    ]

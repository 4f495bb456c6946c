"""Searching what Honcho does not have yet: SQLite's full-text index over the rows that wait.

Whoever writes does not wait for the index: most rows are delivered before anybody searches. `advance` brings
in what came since, and from then on triggers of the schema keep it (migration 0004). It holds no text of its
own, but terms: when a row leaves the queue they are marked as gone, and `tidy` takes them out for good.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, func, select, text, update
from sqlalchemy.engine import Connection

from honchod.outbox.schema import event, searchable
from honchod.outbox.transaction import Tx
from honchod.outbox.values import Kind

TERMS_MAX: Final = 32
"""So many words of a query are looked for."""
SHORT_CHARS: Final = 3
"""Shorter words of Latin script say little, and are left out where there are longer ones."""
LOOKED_AT: Final = 500
"""So many of the newest rows with a word of the query are ranked."""
STEP_ROWS: Final = 500
"""So many rows come into the index in one step: the writer must not be away for long."""
TIDY_PAGES: Final = 64
"""How much of the index one step works on: the writer must not be away for long."""

_WORD: Final = re.compile(r"\w+")
_FOUND: Final = text(
    """
    SELECT event.id, event.message_id, event.kind, event.peer, event.role, event.content, event.created_at,
           lane.session
    FROM waiting JOIN event ON event.id = waiting.rowid JOIN lane ON lane.id = event.lane_id
    WHERE waiting MATCH :match AND event.state = 'queued'
      AND lane.workspace = :workspace AND lane.host IN :hosts
      AND (:session IS NULL OR lane.session = :session)
      AND (:peer IS NULL OR event.peer = :peer)
      AND (:kind IS NULL OR event.kind = :kind)
    ORDER BY waiting.rowid DESC LIMIT :rows
    """
).bindparams(bindparam("hosts", expanding=True))
_UPTO: Final = select(searchable.c.upto)
STEP_END: Final = select(func.max(text("id"))).select_from(
    select(event.c.id).where(event.c.id > bindparam("after")).order_by(event.c.id).limit(STEP_ROWS).subquery()
)
"""The last event of a step that begins behind ``after``."""
STEP: Final = text(
    """
    INSERT INTO waiting (rowid, content) SELECT id, content FROM event
    WHERE id > :after AND id <= :last
      AND event.state = 'queued' AND kind IN ('message', 'conclusion') AND content IS NOT NULL
    """
)
_ADVANCED: Final = update(searchable).values(upto=bindparam("last"))
_MERGE: Final = "INSERT INTO waiting (waiting, rank) VALUES ('merge', ?)"
_OPTIMIZE: Final = "INSERT INTO waiting (waiting) VALUES ('optimize')"


@dataclass(frozen=True, slots=True)
class Sought:
    """What to look for, and where; None: in any session, of any peer, of both kinds."""

    query: str
    hosts: tuple[str, ...]
    workspace: str
    session: str | None = None
    peer: str | None = None
    kind: Kind | None = None
    limit: int = 10


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A row that Honcho does not have yet."""

    id: int
    message_id: str
    kind: Kind
    peer: str
    role: str
    content: str
    created_at_ms: int
    session: str


def found(connection: Connection, sought: Sought) -> list[WaitingRow]:
    """The rows that share words with the query, the best first."""
    match = match_of(sought.query)
    if match is None:
        return []
    rows = connection.execute(
        _FOUND,
        {
            "match": match,
            "workspace": sought.workspace,
            "hosts": list(sought.hosts),
            "session": sought.session,
            "peer": sought.peer,
            "kind": None if sought.kind is None else sought.kind.value,
            "rows": LOOKED_AT,
        },
    )
    return ranked(sought.query, [waiting_row(row) for row in rows])[: sought.limit]


def waiting_row(row: Any) -> WaitingRow:
    """A row of a statement that selects what a `WaitingRow` holds."""
    return WaitingRow(
        id=row.id,
        message_id=row.message_id,
        kind=Kind(row.kind),
        peer=row.peer,
        role=row.role,
        content=row.content,
        created_at_ms=row.created_at,
        session=row.session,
    )


def ranked(query: str, rows: Sequence[WaitingRow]) -> list[WaitingRow]:
    """The rows by how many different words of the query they hold; of equal ones the newest first."""
    words = telling_words(query)

    def score(row: WaitingRow) -> tuple[int, int]:
        said = set(_WORD.findall(_plain(row.content)))
        hits = sum(any(one.startswith(word) for one in said) for word in words)
        return -hits, -row.id

    return sorted(rows, key=score)


def match_of(query: str) -> str | None:
    """The query in the words of FTS5: any of its words, in any form that begins like it. None: no word.

    Every word is quoted, so nothing of a query is ever read as an operator.
    """
    return " OR ".join(_term(word) for word in telling_words(query)) or None


def telling_words(query: str) -> list[str]:
    """The words of a query that are worth looking for."""
    words = list(dict.fromkeys(_WORD.findall(_plain(query))))
    telling = [word for word in words if len(word) >= SHORT_CHARS or not word.isascii()]
    return (telling or words)[:TERMS_MAX]


def _plain(text: str) -> str:
    """As the index folds a text: lower case, without accents."""
    apart = unicodedata.normalize("NFD", text.lower())
    return "".join(char for char in apart if not unicodedata.combining(char))


def _term(word: str) -> str:
    return f'"{word}"*' if len(word) > SHORT_CHARS or not word.isascii() else f'"{word}"'


def advance(tx: Tx) -> bool:
    """Take a step in bringing rows that came since into the index. False when there were none."""
    after = tx.connection.execute(_UPTO).scalar_one()
    last = tx.connection.execute(STEP_END, {"after": after}).scalar()
    if last is None:
        return False
    tx.connection.execute(STEP, {"after": after, "last": last})
    tx.connection.execute(_ADVANCED, {"last": last})
    return True


def tidy(tx: Tx) -> bool:
    """Take a step in removing the terms of rows that no longer wait. Returns whether more is to be done."""
    driver: Any = tx.connection.connection.driver_connection
    before = int(driver.total_changes)
    # With a negative number all segments are merged into one, which leaves nothing of what was deleted.
    tx.connection.exec_driver_sql(_MERGE, (-TIDY_PAGES,))
    # One change is the command itself.
    return int(driver.total_changes) - before > 1


def purge(tx: Tx) -> None:
    """Remove the terms of rows that no longer wait, all at once: for what somebody wants forgotten."""
    tx.connection.exec_driver_sql(_OPTIMIZE)

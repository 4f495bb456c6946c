"""A backlog that need not be said first."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path


def fill(database: Path, rows: int, sessions: int, *, workspace: str = "w") -> None:
    """Put a backlog into a stopped daemon's database, as its writer would have left it."""
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.executemany(
            "INSERT INTO lane (host, workspace, session, pending, due_at) VALUES ('default', ?, ?, ?, 0)",
            [(workspace, f"s{number}", rows // sessions) for number in range(sessions)],
        )
        connection.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
            INSERT INTO event (lane_id, message_id, part, parts, honchod_id, kind, peer, role, author,
                               content, created_at, queued_at, size, digest, state, uid)
            SELECT (SELECT min(id) FROM lane) + i % ?, 'm' || i, 0, 1, 'id-' || i, 'message', 'ann', 'user',
                   'human', 'message ' || i, 0, unixepoch() * 1000, 12, x'00', 'queued', 0
            FROM n
            """,
            (rows, sessions),
        )
        connection.execute(
            "INSERT INTO tally (host, workspace, queued, bytes, counted_upto)"
            " VALUES ('default', ?, ?, ?, (SELECT max(id) FROM event))",
            (workspace, rows, rows * 12),
        )

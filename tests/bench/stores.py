"""State directories in which very many messages wait."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Final

from bench.texts import TEXTS
from honchod.clock import SystemClock
from honchod.outbox.database import FILE_NAME
from honchod.outbox.store import Outbox
from honchod.outbox.values import Bounds

BOUNDS: Final = Bounds(max_rows=5_000_000, max_bytes=16 << 30)
LANES: Final = 1_000
WORKSPACE: Final = "bench"
HOST: Final = "default"

_LANES: Final = """
INSERT INTO lane (id, host, workspace, session, pending, due_at)
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :lanes)
SELECT n, :host, :workspace, 's-' || n, :rows / :lanes, :now FROM number
"""
_EVENTS: Final = """
INSERT INTO event (lane_id, message_id, part, parts, honchod_id, kind, peer, role, author, content,
                   created_at, queued_at, size, digest, state, uid)
WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < :rows - 1)
SELECT n % :lanes + 1, 'm-' || n, 0, 1, printf('00000000-0000-7000-8000-%012x', n), 'message', 'ann', 'user',
       'human', :text, :now, :now, length(:text), randomblob(32), 'queued', 0
FROM number
"""


def opened(directory: Path) -> Outbox:
    """The outbox of a state directory, in this process."""
    return Outbox.open(directory, bounds=BOUNDS, clock=SystemClock())


def fill(directory: Path, rows: int) -> None:
    """Make a state directory in which so many messages wait (a multiple of `LANES`)."""
    asyncio.run(_closed(directory))
    connection = sqlite3.connect(directory / FILE_NAME, isolation_level=None)
    values = {
        "rows": rows,
        "lanes": LANES,
        "host": HOST,
        "workspace": WORKSPACE,
        "now": time.time_ns() // 1_000_000,
        "text": TEXTS[0],
    }
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        if rows:
            connection.execute(_LANES, values)
            connection.execute(_EVENTS, values)
            connection.execute(
                "INSERT INTO tally (host, workspace, queued, bytes, counted_upto)"
                " VALUES (?, ?, ?, ?, (SELECT max(id) FROM event))",
                (HOST, WORKSPACE, rows, rows * len(TEXTS[0])),
            )
            connection.execute(
                "INSERT INTO share (uid, rows, bytes) VALUES (0, ?, ?)", (rows, rows * len(TEXTS[0]))
            )
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


async def _closed(directory: Path) -> None:
    await opened(directory).close()

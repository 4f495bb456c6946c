"""Raw SQLite in process: the least that a durable write can cost on this disk."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from bench.texts import TEXTS


class RawSqlite:
    """One table, one connection, WAL, ``synchronous=FULL``: as durable as the daemon's outbox."""

    def __init__(self, directory: Path) -> None:
        self._connection = sqlite3.connect(directory / "raw.sqlite3", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS message (id INTEGER PRIMARY KEY, content TEXT)")
        self._number = 0

    def insert(self) -> float:
        """One INSERT and COMMIT; the seconds it took."""
        self._number += 1
        text = TEXTS[self._number % len(TEXTS)]
        started = time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO message (content) VALUES (?)", (text,))
        self._connection.execute("COMMIT")
        return time.perf_counter() - started

    def insert_many(self, rows: int) -> None:
        """So many rows by executemany, and COMMIT."""
        self._number += 1
        texts = [(TEXTS[(self._number + row) % len(TEXTS)],) for row in range(rows)]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO message (content) VALUES (?)", texts)
        self._connection.execute("COMMIT")

    def insert_for(self, seconds: float) -> float:
        """Single inserts in a loop; how many a second."""
        return _rate(self.insert, seconds)

    def insert_many_for(self, seconds: float, rows: int) -> float:
        """`insert_many` in a loop; rows a second."""
        return rows * _rate(lambda: self.insert_many(rows), seconds)

    def close(self) -> None:
        """Close it."""
        self._connection.close()


def _rate(call: object, seconds: float) -> float:
    assert callable(call)
    started = time.perf_counter()
    done = 0
    while (elapsed_s := time.perf_counter() - started) < seconds:
        call()
        done += 1
    return done / elapsed_s

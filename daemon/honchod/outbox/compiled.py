"""Statements of the hot paths: written in Core, compiled once, run on the driver's own connection.

Running a statement costs SQLite some 5 µs and Core some 30 more, for its cache, its contexts and its rows.
What every acknowledged message goes through is spared that. Rows come as plain tuples.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement

_DIALECT: Final = sqlite.dialect(paramstyle="named")


class Compiled:
    """One statement as SQL text. Its values are given by the names of its parameters."""

    def __init__(self, statement: ClauseElement) -> None:
        compiled = statement.compile(dialect=_DIALECT)
        assert isinstance(compiled, SQLCompiler)
        self._sql = compiled.string
        self._constants = {
            name: bind.value for bind, name in compiled.bind_names.items() if not bind.required
        }

    def run(self, driver: sqlite3.Connection, values: Mapping[str, Any]) -> sqlite3.Cursor:
        """Run it once."""
        return driver.execute(self._sql, {**self._constants, **values} if self._constants else values)

    def run_each(self, driver: sqlite3.Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run it for each of these values; it must be one that returns no rows."""
        if self._constants:
            rows = [{**self._constants, **values} for values in rows]
        driver.executemany(self._sql, rows)

"""Statements of the hot paths: written in Core, compiled once, run on the driver's own connection.

Running a statement costs SQLite some 5 µs and Core some 30 more, for its cache, its contexts and its rows.
What every acknowledged message goes through is spared that. Rows come as plain tuples.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement

# The driver looks every name of a named parameter up anew, each time that a statement is run.
_DIALECT: Final = sqlite.dialect(paramstyle="qmark")

Values = Mapping[str, Any]


class Compiled:
    """One statement as SQL text. Its values are given by the names of its parameters."""

    def __init__(self, statement: ClauseElement) -> None:
        compiled = statement.compile(dialect=_DIALECT)
        assert isinstance(compiled, SQLCompiler)
        self._sql = compiled.string
        self._constants = {
            name: bind.value for bind, name in compiled.bind_names.items() if not bind.required
        }
        self._in_order = _in_order(compiled.positiontup or ())

    def run(self, driver: sqlite3.Connection, values: Values) -> sqlite3.Cursor:
        """Run it once."""
        return driver.execute(self._sql, self._bound(values))

    def run_each(self, driver: sqlite3.Connection, rows: Iterable[Values]) -> None:
        """Run it for each of these values; it must be one that returns no rows."""
        driver.executemany(self._sql, map(self._bound, rows))

    def _bound(self, values: Values) -> tuple[Any, ...]:
        return self._in_order({**self._constants, **values} if self._constants else values)


def _in_order(names: Sequence[str]) -> Callable[[Values], tuple[Any, ...]]:
    """What takes the values of these names out of a mapping."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple(values[name] for name in names)

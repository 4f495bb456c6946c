"""Statements of the hot paths: written in Core, compiled once, run on the driver's own connection.

Running a statement costs SQLite some 5 µs and Core some 30 more, for its cache, its contexts and its rows.
What every acknowledged message goes through is spared that. Rows come as plain tuples.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Table, bindparam, func, insert, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement

# The driver looks every name of a named parameter up anew, each time that a statement is run.
_DIALECT: Final = sqlite.dialect(paramstyle="qmark")

Values = Mapping[str, Any]

IDS: Final = select(func.json_each(bindparam("ids")).table_valued("value").c.value)
"""What is asked for, as many as there are, in one parameter: a JSON array."""

STEP_ROWS: Final = 64
"""So many rows are written by one statement at the most; a power of two."""
EXACT_ROWS: Final = 32
"""Up to so many rows are inserted by one statement, whatever their number: as many as come together in a busy
commit. Running a statement costs as much as a row of it.
"""


_ONE_OF: Final = " IN (?)"


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


class ManyRows:
    """The insert of many rows of one table: the values of ``columns``, in the table's order, row after row.

    After each step of a statement the driver needs the interpreter's lock back, which another thread may hold
    on to for milliseconds: a statement for many rows waits once for all of them.
    """

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        compiled = insert(table).values({name: bindparam(name) for name in columns}).compile(dialect=_DIALECT)
        assert isinstance(compiled, SQLCompiler)
        if list(compiled.positiontup or ()) != list(columns):
            raise ValueError("the columns are not in the order of the table")
        self._width = len(columns)
        more_rows = f", ({', '.join('?' * self._width)})"
        powers = (2**power for power in range(STEP_ROWS.bit_length()))
        sizes = {*range(1, EXACT_ROWS + 1), *powers}
        self._sql = {size: compiled.string + more_rows * (size - 1) for size in sizes}

    def run_alone(self, driver: sqlite3.Connection, values: list[Any]) -> None:
        """As `run`, as a transaction of its own. When it raises, that may still be open."""
        if len(values) <= EXACT_ROWS * self._width:
            self.run(driver, values)
            return
        driver.execute("BEGIN IMMEDIATE")
        self.run(driver, values)
        driver.execute("COMMIT")

    def run(self, driver: sqlite3.Connection, values: list[Any]) -> None:
        """Insert the rows with these values, in this order."""
        width, start = self._width, 0
        while left := (len(values) - start) // width:
            # Beyond that powers of two: few different statements, so each is prepared once.
            size = left if left <= EXACT_ROWS else 1 << min(left, STEP_ROWS).bit_length() - 1
            end = start + size * width
            driver.execute(self._sql[size], values[start:end])
            start = end


class ForSome(Compiled):
    """One statement for several rows: it ends in ``IN (:one)``, which is widened to those asked for."""

    def __init__(self, statement: ClauseElement, one: str) -> None:
        super().__init__(statement)
        if not self._sql.endswith(_ONE_OF):
            raise ValueError("the statement does not end with what is widened")
        self._one = one
        beginning = self._sql.removesuffix(_ONE_OF)
        self._wide_sql = [
            f"{beginning} IN ({', '.join('?' * 2**power)})" for power in range(STEP_ROWS.bit_length())
        ]

    def run_for(self, driver: sqlite3.Connection, values: Values, ids: Sequence[int]) -> None:
        """Run it for these rows."""
        *common, _ = self._bound({**values, self._one: None})
        for start in range(0, len(ids), STEP_ROWS):
            some = ids[start : start + STEP_ROWS]
            power = (len(some) - 1).bit_length()
            # The last one again changes nothing; so there are few different statements, prepared once each.
            again = some[-1:] * (2**power - len(some))
            driver.execute(self._wide_sql[power], (*common, *some, *again))


def _in_order(names: Sequence[str]) -> Callable[[Values], tuple[Any, ...]]:
    """What takes the values of these names out of a mapping."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple(values[name] for name in names)

"""How full the database is. Read once for all operations of a group, since each answer costs a statement."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from honchod.outbox.database import PAGE_BYTES
from honchod.outbox.tally import ROWS

_PAGES: Final = "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count"


@dataclass(frozen=True, slots=True)
class Extent:
    """Rows that are held, and bytes of the pages that are in use (free pages are not)."""

    rows: int
    bytes: int


def measured(driver: sqlite3.Connection) -> Extent:
    """The extent as the counters and pages of this connection show it."""
    (rows,) = ROWS.run(driver, {}).fetchone()
    (pages,) = driver.execute(_PAGES).fetchone()
    return Extent(rows, pages * PAGE_BYTES)

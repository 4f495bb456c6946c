"""How full the database is, known by heart: the writer alone changes it, so it seldom has to ask.

And what the database does not know of itself: what was stored and is not counted yet (see ``uncounted``).
"""

from __future__ import annotations

import sqlite3
from typing import Final

from honchod.outbox import tally
from honchod.outbox.database import PAGE_BYTES
from honchod.outbox.tally import Ledger

MEASURED_FOR_COMMITS: Final = 64
MEASURED_FOR_BYTES: Final = 1 << 20
"""After so many commits, or so much that was taken in, the pages are counted anew: what else grows (indexes,
the cache) is in no ledger. It stays far below the reserve that SQLite's own bound leaves.
"""

_PAGES: Final = "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count"


def used_bytes(driver: sqlite3.Connection) -> int:
    """Bytes of the pages that are in use (free pages are not), as this connection sees them."""
    (pages,) = driver.execute(_PAGES).fetchone()
    return int(pages) * PAGE_BYTES


class Standing:
    """What was held at the last commit. The writer's alone.

    Rows and shares are those of the counters and of what is ``uncounted``. Bytes are measured now and then;
    between that they are no less than what is in use, but for what no ledger has: whoever would refuse
    something measures first.
    """

    def __init__(self, driver: sqlite3.Connection) -> None:
        self._driver = driver
        self._room = self._commits = 0
        self._uncounted: Ledger | None = None
        self.forget()

    @property
    def uncounted(self) -> Ledger:
        """What the counters and the lanes do not have yet, as the last process left it and since."""
        if self._uncounted is None:
            self._uncounted = tally.not_counted(self._driver)
        return self._uncounted

    @property
    def owes(self) -> bool:
        """Whether something is known to be uncounted. Reads nothing."""
        return self._uncounted is not None and self._uncounted.rows > 0

    def forget(self) -> None:
        """A transaction was lost: ask the database again."""
        self._rows: int | None = None
        self._shares: dict[int, tuple[int, int]] = {}
        self.forget_bytes()

    def forget_bytes(self) -> None:
        """Pages were freed, or somebody has to know: count them again."""
        self._bytes: int | None = None

    def committed(self, ledger: Ledger, *, counted: bool) -> None:
        """A transaction with these changes is on disk: ``counted``, with all that was not counted before."""
        if not counted:
            self.uncounted.add(ledger)
        elif self.uncounted.rows:
            self._uncounted = Ledger()
        if self._rows is not None:
            self._rows += ledger.rows
        for uid, counter in ledger.share.items():
            if uid in self._shares:
                rows, size = self._shares[uid]
                self._shares[uid] = rows + counter["rows"], size + counter["bytes"]
        self._commits += 1
        self._room += ledger.room
        if self._commits >= MEASURED_FOR_COMMITS or self._room >= MEASURED_FOR_BYTES:
            self.forget_bytes()

    def rows(self, ledger: Ledger) -> int:
        """Rows that are held, with those of the present transaction."""
        if self._rows is None:
            self._rows = tally.rows(self._driver) + self.uncounted.rows
        return self._rows + ledger.rows

    def share_of(self, uid: int, ledger: Ledger) -> tuple[int, int]:
        """Rows and bytes of this uid that wait to be delivered, with those of the present transaction."""
        held = self._shares.get(uid)
        if held is None:
            counted = tally.share_of(self._driver, uid)
            held = self._shares[uid] = _with(counted, self.uncounted, uid)
        return _with(held, ledger, uid)

    def bytes(self, ledger: Ledger) -> int:
        """Bytes that are in use, with what the present transaction may have taken."""
        if self._bytes is None:
            self._bytes = used_bytes(self._driver) - ledger.room
            self._room = self._commits = 0
        return self._bytes + self._room + ledger.room


def _with(share: tuple[int, int], ledger: Ledger, uid: int) -> tuple[int, int]:
    more = ledger.share.get(uid)
    return share if more is None else (share[0] + more["rows"], share[1] + more["bytes"])

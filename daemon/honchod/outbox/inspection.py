"""Looking at a database that nobody has open: whether it is sound, and of which version."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from honchod.outbox import database
from honchod.outbox.backup import verify
from honchod.outbox.migrate import HEAD, refuse_newer, revision
from honchod.outbox.values import Counts


@dataclass(frozen=True, slots=True)
class Inspected:
    """A sound database. ``current``: the next start has nothing to upgrade."""

    counts: Counts
    current: bool


def inspect(path: Path) -> Inspected:
    """Read all of the database at ``path``. Raises `DatabaseTooNew`, and `BackupRefused` for damage."""
    found = None
    # What cannot be read at all is named by the full check.
    with contextlib.suppress(DBAPIError), contextlib.closing(database.open_reader(path)) as reader:
        found = revision(reader)
    refuse_newer(found, path)
    return Inspected(verify(path), found == HEAD)

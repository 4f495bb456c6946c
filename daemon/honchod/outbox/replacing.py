"""Putting another database into the place of the one that is there, which is kept.

The new one is made under a name of its own. Giving it its second name, such as ``….restored-STAMP``, is the
moment that counts: before it nothing has happened, after it the old files are moved aside and the new one
into their place, if not now, then at the next start.
"""

from __future__ import annotations

import time
from enum import Enum
from pathlib import Path

from honchod.outbox import database


class Why(Enum):
    """What the new database is; the value says how it is named while it waits for its place, and how the old
    one is named when it has left it.
    """

    SALVAGED = ("salvaged-", "damaged-")
    RESTORED = ("restored-", "replaced-")


def stamp(path: Path, why: Why, now_ms: int) -> str:
    """The time as part of a name, and a number where that was taken before: no file is ever replaced."""
    base = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_ms / 1000))
    found, number = base, 1
    while aside(path, why, found).exists():
        number += 1
        found = f"{base}-{number}"
    return found


def aside(path: Path, why: Why, at: str) -> Path:
    """Where the database that is replaced goes."""
    return path.with_name(f"{path.name}.{why.value[1]}{at}")


def commit(path: Path, ready: Path, why: Why, at: str) -> None:
    """Let ``ready``, which is on disk, take the place of the database at ``path``."""
    ready.rename(path.with_name(f"{path.name}.{why.value[0]}{at}"))
    database.sync(path.parent)
    finish(path)


def finish(path: Path) -> None:
    """Put a database into its place that was to take it, if one is there that has not yet."""
    for why in Why:
        prefix = f"{path.name}.{why.value[0]}"
        for ready in sorted(path.parent.glob(f"{prefix}*")):
            old = aside(path, why, ready.name.removeprefix(prefix))
            # The log first: it must never stand beside a database that it does not belong to.
            for file, kept in reversed(list(zip(database.files(path), database.files(old), strict=True))):
                if file.exists():
                    file.rename(kept)
            ready.rename(path)
            database.sync(path.parent)

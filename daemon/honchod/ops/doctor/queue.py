"""The database, while no daemon has it open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from honchod.errors import BackupRefused, DatabaseTooNew
from honchod.ops.doctor.finding import Finding, ok, skipped, wrong
from honchod.outbox.inspection import inspect
from honchod.outbox.ownership import as_owner

CHECK = "database"


def database(path: Path) -> Iterator[Finding]:
    """Whether the database is sound, and of a version that this program knows. Reads all of it."""
    if not path.exists():
        yield skipped(CHECK, f"{path} is not there yet: it is made at the first start")
        return
    try:
        with as_owner(path.parent):
            found = inspect(path)
    except DatabaseTooNew as error:
        yield _too_new(path, error)
    except BackupRefused as error:
        yield wrong(
            CHECK,
            error.detail,
            "start the daemon: it keeps the file and saves what can be read of it; or restore a backup",
        )
    else:
        counts = found.counts
        upgrade = "" if found.current else "; it is upgraded at the next start"
        yield ok(CHECK, f"{path} is sound: {counts.queued} events wait, {counts.dead} dead letters{upgrade}")


def _too_new(path: Path, error: DatabaseTooNew) -> Finding:
    copies = sorted(path.parent.glob(f"{path.name}.before-*"), key=lambda copy: copy.stat().st_mtime)
    if not copies:
        return wrong(CHECK, str(error), "install the version that wrote it")
    return wrong(
        CHECK,
        str(error),
        f"install the version that wrote it; or put back {copies[-1].name}, made before its upgrade: "
        "what came in since stays in the file that it replaces",
        ("honchod", "restore", "--yes", "--state-dir", str(path.parent), str(copies[-1])),
    )

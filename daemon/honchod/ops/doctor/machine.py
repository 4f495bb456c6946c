"""The machine: SQLite, clock, disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from honchod.clock import Clock
from honchod.ops.amounts import size
from honchod.ops.checks import FIRST_CREDIBLE_MS, LOW_DISK_BYTES, free_bytes
from honchod.ops.doctor.finding import Finding, ok, warning, wrong

OLDEST_SQLITE: Final = (3, 37, 0)
"""The first with STRICT tables."""

_REMOTE: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "fuse.sshfs"})
"""File systems on which SQLite's log, which is shared memory, does not work."""


def sqlite() -> Finding:
    """Whether SQLite is new enough."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        return wrong(
            "sqlite",
            f"SQLite {sqlite3.sqlite_version} is too old",
            f"use a Python with SQLite {needed} or later",
        )
    return ok("sqlite", f"SQLite {sqlite3.sqlite_version}")


def wall_clock(clock: Clock) -> Finding:
    """Whether the clock is credible."""
    if clock.now_ms() < FIRST_CREDIBLE_MS:
        return wrong("clock", "the clock is years behind", "set it (timedatectl set-ntp true)")
    return ok("clock", "the clock is credible")


def disk(state_dir: Path, max_bytes: int, mounts: str | None = None) -> Iterator[Finding]:
    """The disk of the state directory. ``mounts`` is the kernel's list of mounts (mountinfo)."""
    there = next((path for path in (state_dir, *state_dir.parents) if path.exists()), Path("/"))
    kind = file_system(there, _mounts() if mounts is None else mounts)
    if kind in _REMOTE:
        yield wrong(
            "disk",
            f"{there} is on {kind}: a database in use gets damaged there",
            "set state_dir to a directory on a disk of this machine",
        )
    free = free_bytes(there)
    if free < LOW_DISK_BYTES:
        yield wrong("disk", f"{size(free)} are free at {there}", "make room there, or set state_dir")
    elif free < max_bytes:
        yield warning(
            "disk",
            f"{size(free)} are free at {there}, less than outbox.max_bytes ({size(max_bytes)})",
            "make room there, or set outbox.max_bytes to less",
        )
    else:
        yield ok("disk", f"{size(free)} are free at {there}")


def file_system(path: Path, mounts: str) -> str | None:
    """The type of the file system that holds the path, out of a mountinfo; None: it does not tell."""
    longest, found = -1, None
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = fields[4].encode().decode("unicode_escape")
        inside = point == "/" or path == Path(point) or Path(point) in path.parents
        if inside and len(point) >= longest:
            longest, found = len(point), after.split()[0]
    return found


def _mounts() -> str:
    try:
        return Path("/proc/self/mountinfo").read_text()
    except OSError:
        return ""

"""Files and directories: who may read and who may write them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from honchod.ops.doctor.finding import Finding, ok, skipped, warning, wrong
from honchod.outbox.database import FILE_NAME

GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO
UNFINISHED = (".restoring", ".salvaging", ".partial")
"""What is left of a copy whose maker died."""


def secret_file(check: str, path: Path) -> Finding:
    """A file with a key or token in it: for its owner alone."""
    mode = _mode(path)
    if mode is None:
        return skipped(check, f"{path} is not there, or may not be looked at")
    if mode & GROUP_AND_OTHERS:
        return wrong(
            check,
            f"{path} ({mode:04o}) can be read by others, and holds a secret",
            "let nobody else read it",
            ("chmod", "0600", str(path)),
        )
    return ok(check, f"{path} is its owner's alone")


def shared_file(check: str, path: Path, *, secret: bool) -> Finding:
    """A configuration file: its group may read it, others only while there is no ``secret`` in it, and nobody
    else may write it.
    """
    mode = _mode(path)
    if mode is None:
        return skipped(check, f"{path} may not be looked at")
    if secret and mode & stat.S_IRWXO:
        return wrong(
            check,
            f"{path} ({mode:04o}) can be read by everybody, and holds an API key",
            "let nobody else read it",
            ("chmod", "o-rwx", str(path)),
        )
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        return wrong(
            check,
            f"{path} ({mode:04o}) can be changed by others: who writes it decides where everything goes",
            "let nobody else write it",
            ("chmod", "go-w", str(path)),
        )
    return ok(check, f"{path} can be changed by its owner alone")


def state_dir(path: Path) -> Iterator[Finding]:
    """The state directory, and what is in it."""
    check = "state directory"
    mode = _mode(path)
    if mode is None:
        yield _missing(check, path)
        return
    if not path.is_dir():
        yield wrong(
            check,
            f"{path} is no directory",
            "move it away, or set state_dir",
            ("mv", str(path), f"{path}.aside"),
        )
        return
    if mode & GROUP_AND_OTHERS:
        yield wrong(
            check,
            f"{path} ({mode:04o}) is open to others: what was said is in it",
            "let nobody else in",
            ("chmod", "0700", str(path)),
        )
    else:
        yield ok(check, f"{path} is its owner's alone")
    try:
        yield from _inside(path)
    except PermissionError:
        yield skipped(check, f"what is in {path} may not be looked at: run as its owner, or as root")


def _inside(path: Path) -> Iterator[Finding]:
    owner = path.stat().st_uid
    for file in sorted(path.glob(f"{FILE_NAME}*")):
        status = file.lstat()
        if file.name.endswith(UNFINISHED):
            yield warning(
                "copies",
                f"{file} is what is left of a copy that was never finished",
                "remove it",
                ("rm", str(file)),
            )
        elif status.st_mode & GROUP_AND_OTHERS:
            yield wrong(
                "database files",
                f"{file} ({stat.S_IMODE(status.st_mode):04o}) can be read by others: what was said is in it",
                "let nobody else read it",
                ("chmod", "0600", str(file)),
            )
    for file in sorted(path.iterdir()):
        if file.lstat().st_uid != owner:
            yield wrong(
                "owners",
                f"{file} belongs to uid {file.lstat().st_uid}, and its directory to uid {owner}: the daemon "
                "cannot use it",
                "give it to the owner of the directory",
                ("chown", f"--reference={path}", str(file)),
            )


def _missing(check: str, path: Path) -> Finding:
    nearest = next((parent for parent in path.parents if parent.exists()), Path("/"))
    if os.access(nearest, os.W_OK | os.X_OK):
        return skipped(check, f"{path} is not there yet: it is made at the first start")
    return wrong(
        check,
        f"{path} is not there, and cannot be made by this user",
        "make it for the user that runs the daemon, or set state_dir",
    )


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None

"""Files that hold one secret."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from honchod.errors import StartRefused
from honchod.identity.secret import Secret

_SHORTEST: Final = 16
_LONGEST: Final = 4096
_TOO_OPEN: Final = stat.S_IRWXO | stat.S_IWGRP
"""A group may read: the mode of a systemd credential shows its access list there."""


def read(path: Path) -> Secret:
    """The secret in a file, without white space around it.

    Raises StartRefused, with what to do, for a file that is open to others or holds no secret; OSError for
    one that cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(handle, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 (a descriptor)
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise StartRefused(f"{path} is no file: choose another")
        if found.st_mode & _TOO_OPEN:
            raise StartRefused(f"{path} is open to others: chmod 600 {path}")
        secret = file.read(_LONGEST + 1).strip()
    if not _SHORTEST <= len(secret) <= _LONGEST or not secret.isascii() or not secret.isprintable():
        raise StartRefused(
            f"{path} holds no secret of {_SHORTEST} to {_LONGEST} characters: write one into it"
        )
    return Secret(secret)

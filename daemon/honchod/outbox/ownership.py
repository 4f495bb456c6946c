"""Root at work in somebody's state directory: what it makes there has to stay that person's."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from honchod.outbox.database import ROOT


@contextlib.contextmanager
def as_owner(directory: Path) -> Iterator[None]:
    """While the block runs root acts as the owner of the directory, where there is one."""
    if os.geteuid() != ROOT or not directory.exists():
        yield
        return
    owner, group = directory.stat(), os.getegid()
    os.setegid(owner.st_gid)
    os.seteuid(owner.st_uid)
    try:
        yield
    finally:
        os.seteuid(ROOT)
        os.setegid(group)

"""The drop box: whose it is, and what could not be taken in."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from honchod.client.box import BAD, BYTES_MAX, FILES_MAX, Box
from honchod.client.errors import DropUnusable
from honchod.ops.doctor.files import GROUP_AND_OTHERS
from honchod.ops.doctor.finding import Finding, ok, skipped, warning, wrong

CHECK = "drop box"
_NEARLY = 0.8


def drop_box(path: Path | None) -> Iterator[Finding]:
    """The box at ``path``; None: this user has none."""
    if path is None:
        yield skipped(CHECK, "this user has no home, and so no drop box")
        return
    try:
        with Box(os.fspath(path)) as box:
            waiting, bad = box.entries(), box.bad()
    except FileNotFoundError:
        yield skipped(CHECK, f"{path} is not there: nothing was ever left in it")
        return
    except (OSError, DropUnusable) as error:
        reason = error.strerror if isinstance(error, OSError) else error.detail
        yield wrong(CHECK, f"{path} cannot be used: {reason}", "let it belong to the daemon's user alone")
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & GROUP_AND_OTHERS:
        yield wrong(
            CHECK,
            f"{path} ({mode:04o}) is open to others: what was said is in it",
            "let nobody else in",
            ("chmod", "0700", str(path)),
        )
    if bad:
        yield warning(
            CHECK,
            f"{len(bad)} requests in {path / BAD} could not be taken in",
            "the log says why (drop.bad); mend that and move them back into the box, or remove them",
        )
    if len(waiting) > _NEARLY * FILES_MAX or sum(one.size_bytes for one in waiting) > _NEARLY * BYTES_MAX:
        yield warning(
            CHECK,
            f"{path} is nearly full: {len(waiting)} requests wait",
            "start the daemon: it takes them in",
        )
    if not bad and not mode & GROUP_AND_OTHERS:
        yield ok(CHECK, f"{len(waiting)} requests wait in {path}")

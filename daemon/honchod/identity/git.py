"""Where a git work tree begins."""

from __future__ import annotations

from pathlib import Path


def git_top(directory: str) -> str | None:
    """The top of the git work tree that holds the directory; None: there is none, or it cannot be seen."""
    path = Path(directory)
    for ancestor in (path, *path.parents):
        try:
            (ancestor / ".git").lstat()
        except OSError:
            continue
        return str(ancestor)
    return None

"""``python -m honchod.cli.man DIRECTORY`` writes the manual pages. A test holds ``deploy/man`` to them."""

from __future__ import annotations

import sys
from pathlib import Path

from honchod.cli.man import command_page, settings_page

PAGES = {"honchod.1": command_page.page, "honchod.toml.5": settings_page.page}


def write(directory: Path) -> None:
    """Write the pages into the directory, made when missing."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (directory / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

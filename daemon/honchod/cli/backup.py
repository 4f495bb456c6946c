"""``honchod backup``."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honchod.cli.answers import read
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import facts, show, show_json
from honchod.client.errors import ClientError
from honchod.ops.amounts import number, size
from honchod.ops.views import BackupMade, Status

if TYPE_CHECKING:
    from honchod.client import Client

LOOK_INTERVAL_S = 0.25

EPILOG = """\b
examples:
  honchod backup ~/honchod.backup
  honchod backup /var/backups/honchod/$(date +%F).sqlite3

The daemon writes the file: it must be allowed to write there. Nothing that exists is replaced.
"""


@click.command(epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@socket_option
def backup(file: Path, as_json: bool) -> None:
    """Copy the queue of the running daemon to FILE, as it is at one instant, and verify the copy."""
    path = str(file.absolute())
    with open_client() as client:
        with_bar = sys.stdout.isatty() and not as_json
        answer = _with_progress(client, path) if with_bar else client.backup(path)
    if as_json:
        show_json(answer)
        return
    made = read(answer, BackupMade)
    show(
        [
            facts(
                backup=made.path,
                size=size(made.bytes),
                events=number(made.events),
                pending=number(made.pending),
                dead_letters=number(made.dead),
                taken_at=made.taken_at,
            )
        ]
    )


def _with_progress(client: Client, path: str) -> Any:
    """Make the backup while a bar shows how much of the database is copied."""
    from rich.progress import Progress

    over = threading.Event()
    with Progress(transient=True) as progress:
        task = progress.add_task("copying", total=None)

        def follow() -> None:
            while not over.wait(LOOK_INTERVAL_S):
                try:
                    seen = read(client.status(), Status).backup
                except ClientError:
                    return  # The backup itself tells what is wrong.
                if seen is not None and seen.total:
                    whole = seen.done >= seen.total
                    text = "verifying" if whole else "copying"
                    progress.update(task, description=text, completed=seen.done, total=seen.total)

        threading.Thread(target=follow, daemon=True).start()
        try:
            return client.backup(path)
        finally:
            over.set()

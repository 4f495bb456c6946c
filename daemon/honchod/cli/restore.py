"""``honchod restore``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from honchod.cli.exits import Exit
from honchod.cli.options import config_option, confirm, json_option, state_dir_option, yes_option
from honchod.cli.output import facts, show, show_json
from honchod.ops.amounts import number

EPILOG = """\b
examples:
  systemctl stop honchod.socket honchod.service
  honchod restore /var/backups/honchod/2026-03-02.sqlite3
  systemctl start honchod.service

The queue that was there is kept beside the new one. What waits in the backup is looked up at Honcho before it
is sent: what was delivered since is not sent again.
"""


@click.command(epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@config_option
@state_dir_option
@yes_option
@json_option
def restore(file: Path, config: Path | None, state_dir: Path | None, yes: bool, as_json: bool) -> int:
    """Put the backup FILE into the place of the queue. Refuses while the daemon runs."""
    from honchod.errors import ConfigError, HonchodError
    from honchod.outbox.restore import restore as put_back
    from honchod.service import settings
    from honchod.service.settings import Flags

    try:
        loaded = settings.load(config, env=os.environ, flags=Flags(state_dir=state_dir))
    except ConfigError as error:
        for problem in error.problems:
            click.echo(f"honchod: {problem}", err=True)
        return Exit.USAGE
    confirm(f"Replace the queue in {loaded.state_dir} by {file}?", yes=yes)
    try:
        with _bar(shown=sys.stdout.isatty() and not as_json) as tell:
            restored = put_back(
                file.absolute(),
                loaded.state_dir,
                path=loaded.outbox_path,
                now_ms=time.time_ns() // 1_000_000,
                tell=tell,
            )
    except (HonchodError, OSError) as error:
        click.echo(f"honchod: {error}", err=True)
        return Exit.FAILED
    replaced = None if restored.replaced is None else str(restored.replaced)
    counts = restored.counts
    if as_json:
        show_json(
            {
                "database": str(restored.database),
                "replaced": replaced,
                "events": counts.rows,
                "pending": counts.queued,
                "dead": counts.dead,
            }
        )
    else:
        show(
            [
                facts(
                    restored=restored.database,
                    replaced=replaced,
                    events=number(counts.rows),
                    pending=number(counts.queued),
                    dead_letters=number(counts.dead),
                )
            ]
        )
    return Exit.DONE


@contextmanager
def _bar(*, shown: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar that is told how many pages are copied; none when it is not to be shown."""
    if not shown:
        yield lambda done, total: None
        return
    from rich.progress import Progress

    with Progress(transient=True) as progress:
        task = progress.add_task("copying", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)

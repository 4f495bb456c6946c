"""``honchod drain``."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import click

from honchod.cli.answers import read
from honchod.cli.exits import Exit
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import show_json
from honchod.client.errors import ClientError
from honchod.ops.amounts import number
from honchod.ops.views import Drained, Status

if TYPE_CHECKING:
    from honchod.client import Client

LOOK_INTERVAL_S = 0.25

EPILOG = """\b
examples:
  honchod drain
  honchod drain --timeout 300 && systemctl stop honchod

Exit code 1 when something is left at the end of the time.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, 86_400),
    default=30.0,
    metavar="S",
    show_default=True,
    help="Seconds to wait at most.",
)
@json_option
@socket_option
def drain(timeout_s: float, as_json: bool) -> int:
    """Wait until everything that waits has been delivered (or is a dead letter)."""
    with open_client() as client:
        if sys.stdout.isatty() and not as_json:
            answer = _with_progress(client, timeout_s)
        else:
            answer = client.drain(timeout_s)
    outcome = read(answer, Drained)
    if as_json:
        show_json(answer)
    elif outcome.drained:
        click.echo("drained")
    else:
        click.echo(f"{number(outcome.remaining)} left after {timeout_s:g} s")
    return Exit.DONE if outcome.drained else Exit.FAILED


def _with_progress(client: Client, timeout_s: float) -> Any:
    """Drain while a bar shows how many of the events that waited at first are gone."""
    from rich.progress import Progress

    at_first = _pending(client)
    over = threading.Event()
    with Progress(transient=True) as progress:
        task = progress.add_task("draining", total=at_first)

        def follow() -> None:
            while not over.wait(LOOK_INTERVAL_S):
                try:
                    progress.update(task, completed=max(0, at_first - _pending(client)))
                except ClientError:
                    return  # The drain itself tells what is wrong.

        threading.Thread(target=follow, daemon=True).start()
        try:
            return client.drain(timeout_s)
        finally:
            over.set()


def _pending(client: Client) -> int:
    return read(client.status(), Status).queue.pending

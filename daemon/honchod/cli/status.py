"""``honchod status``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from honchod.cli import interrupts
from honchod.cli.answers import read
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import rendered, show, show_json
from honchod.cli.status_view import status_blocks
from honchod.ops.views import Status

if TYPE_CHECKING:
    from honchod.client import Client

EPILOG = """\b
examples:
  honchod status
  honchod status --watch
  honchod status --json | jq .queue
"""


@click.command(epilog=EPILOG)
@click.option("--watch", is_flag=True, help="Look again and again, until interrupted.")
@click.option(
    "--interval",
    "interval_s",
    type=click.FloatRange(0.1, 3600),
    default=1.0,
    metavar="S",
    show_default=True,
    help="Seconds between two looks.",
)
@json_option
@socket_option
def status(watch: bool, interval_s: float, as_json: bool) -> None:
    """Queue, delivery, destinations and cache at a glance. Never content, never keys."""
    interrupts.remember()
    with open_client() as client:
        if watch and sys.stdout.isatty() and not as_json:
            _repaint(client, interval_s)
            return
        while True:
            answer = client.status()
            if as_json:
                show_json(answer)
            else:
                show(status_blocks(read(answer, Status)))
            if not watch:
                return
            interrupts.pause(interval_s)


def _repaint(client: Client, interval_s: float) -> None:
    from rich.live import Live

    with Live(screen=True, auto_refresh=False) as live:
        while True:
            live.update(rendered(status_blocks(read(client.status(), Status))), refresh=True)
            interrupts.pause(interval_s)

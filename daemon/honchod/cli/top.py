"""``honchod top``."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from honchod.cli import interrupts
from honchod.cli.answers import read
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import rendered, show, show_json
from honchod.cli.top_view import Look, Pace, top_blocks
from honchod.ops.views import LetterPage, Status

if TYPE_CHECKING:
    from honchod.client import Client

LETTERS = 5

EPILOG = """\b
examples:
  honchod top
  honchod top --interval 5
  honchod top --once

Without a terminal, or with --once, it looks twice, one interval apart, and prints once.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--interval",
    "interval_s",
    type=click.FloatRange(0.1, 3600),
    default=1.0,
    metavar="S",
    show_default=True,
    help="Seconds between two looks.",
)
@click.option("--once", is_flag=True, help="Print once instead of repainting.")
@json_option
@socket_option
def top(interval_s: float, once: bool, as_json: bool) -> None:
    """Watch the lanes that have waited longest, the dead letters and the throughput."""
    interrupts.remember()
    with open_client() as client:
        pace = Pace()
        pace.add(_look(client))
        if once or as_json or not sys.stdout.isatty():
            interrupts.pause(interval_s)
            look = _look(client)
            pace.add(look)
            if as_json:
                show_json(pace.answer(look))
            else:
                show(top_blocks(look, pace))
            return
        _repaint(client, pace, interval_s)


def _look(client: Client) -> Look:
    return Look(
        time.monotonic(),
        read(client.status(oldest=True), Status),
        read(client.letters(limit=LETTERS), LetterPage),
    )


def _repaint(client: Client, pace: Pace, interval_s: float) -> None:
    from rich.live import Live

    with Live(screen=True, auto_refresh=False) as live:
        while True:
            look = _look(client)
            pace.add(look)
            live.update(rendered(top_blocks(look, pace)), refresh=True)
            interrupts.pause(interval_s)

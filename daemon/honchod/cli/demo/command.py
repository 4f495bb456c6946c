"""``honchod demo``, the command."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import click

from honchod.cli import interrupts
from honchod.cli.demo.conversation import CONVERSATION
from honchod.cli.demo.play import QUESTION, Acked, Ended, play
from honchod.cli.demo.processes import DemoFailed
from honchod.cli.demo.screen import LiveScreen, NoScreen, PlainScreen, Screen, summary
from honchod.cli.exits import Exit
from honchod.cli.options import json_option
from honchod.cli.output import show, show_json
from honchod.client import ClientError

EPILOG = """\b
examples:
  honchod demo
  honchod demo --keep
  honchod demo --json | jq .kept

Exit code 1 when a promise was not kept. Nothing outside a temporary directory is touched.
"""


@click.command(epilog=EPILOG)
@click.option("--keep", is_flag=True, help="Keep the directory with state, configuration and logs.")
@json_option
def demo(keep: bool, as_json: bool) -> int:
    """See it work: a daemon and a sandbox Honcho in a temporary directory.

    A short conversation goes through the socket. In the middle the daemon is killed while a request is under
    way whose answer never comes. Then it is started again, and Honcho must hold every message once, in order.
    It ends with the memory that the next prompt would get.
    """
    interrupts.remember()
    directory = Path(tempfile.mkdtemp(prefix="honchod-demo-"))
    try:
        acked, ended = _perform(directory, _screen(as_json=as_json))
    except (DemoFailed, ClientError) as error:
        click.echo(f"honchod: demo: {error}", err=True)
        return Exit.FAILED
    finally:
        if keep:
            click.echo(f"kept {directory}", err=True)
        else:
            shutil.rmtree(directory)
    if as_json:
        show_json(_report(acked, ended))
    else:
        show(summary(acked, ended))
        click.echo(f"\nWhat a prompt gets for “{QUESTION}”:\n\n{ended.memory}")
    return Exit.DONE if ended.verdict.kept else Exit.FAILED


def _screen(*, as_json: bool) -> Screen:
    if as_json:
        return NoScreen()
    return LiveScreen() if sys.stdout.isatty() else PlainScreen()


def _perform(directory: Path, screen: Screen) -> tuple[dict[str, float], Ended]:
    """Show the play; returns how long each message took to be acknowledged (ms, by id), and its end."""
    acked: dict[str, float] = {}
    with screen.running(), closing(play(directory)) as events:
        for event in events:
            screen.show(event)
            if isinstance(event, Acked):
                acked[event.line.id] = event.ms
            elif isinstance(event, Ended):
                return acked, event
    raise DemoFailed("the play had no end")


def _report(acked: dict[str, float], ended: Ended) -> dict[str, object]:
    verdict = ended.verdict
    return {
        "kept": verdict.kept,
        "messages": [
            {"id": line.id, "role": line.role, "ack_ms": round(acked[line.id], 3)} for line in CONVERSATION
        ],
        "lost": verdict.lost,
        "duplicated": verdict.duplicated,
        "in_order": verdict.in_order,
        "unchanged": verdict.unchanged,
        "memory": ended.memory,
        "recall_ms": round(ended.recalled_ms, 3),
        "message_requests": ended.message_requests,
        "took_s": round(ended.took_s, 3),
    }

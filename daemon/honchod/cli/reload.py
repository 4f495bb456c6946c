"""``honchod reload``."""

from __future__ import annotations

import click

from honchod.cli.answers import read
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import Cell, Tone, facts, show, show_json
from honchod.ops.views import Reloaded


@click.command(epilog="Example: honchod reload")
@json_option
@socket_option
def reload(as_json: bool) -> None:
    """Read the configuration again, as SIGHUP does. A bad file changes nothing."""
    with open_client() as client:
        answer = client.reload()
    if as_json:
        show_json(answer)
        return
    reloaded = read(answer, Reloaded)
    waiting = ", ".join(reloaded.restart_needed)
    show(
        [
            facts(
                hosts=", ".join(reloaded.hosts) or None,
                needs_a_restart=Cell(waiting, Tone.WARNING) if waiting else None,
            )
        ]
    )

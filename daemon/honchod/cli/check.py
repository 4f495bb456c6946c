"""``honchod check``."""

from __future__ import annotations

import click

from honchod.cli.answers import read
from honchod.cli.exits import Exit
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import Block, Cell, Table, Tone, cell, show, show_json
from honchod.ops.amounts import millis
from honchod.ops.views import Checks


@click.command(epilog="Example: honchod check --json | jq .ok\n\nExit code 1 when a probe fails.")
@json_option
@socket_option
def check(as_json: bool) -> int:
    """Probe every destination with its key, and the clock and the disk; each with how to mend it."""
    with open_client() as client:
        answer = client.checks()
    checks = read(answer, Checks)
    if as_json:
        show_json(answer)
    else:
        show([checks_block(checks)])
    return Exit.DONE if checks.ok else Exit.FAILED


def checks_block(checks: Checks) -> Block:
    """One row a probe."""
    rows = tuple(
        (
            cell(each.name),
            cell(each.host),
            Cell(each.code, Tone.GOOD if each.ok else Tone.BAD),
            cell(millis(each.latency_ms)),
            cell(each.detail),
        )
        for each in checks.checks
    )
    return Table("Checks", ("check", "host", "result", "latency", "detail"), rows, empty="nothing to check")

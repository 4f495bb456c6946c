"""``honchod tokens``: how much a recall may cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from honchod.cli.hosts_file import file_option, host_option
from honchod.cli.manage import manage
from honchod.cli.options import json_option, socket_option
from honchod.identity.host import Host

EPILOG = """\b
examples:
  honchod tokens --host hermes
  honchod tokens --host hermes --context 800 --dialectic 4000
"""


@click.command(epilog=EPILOG)
@click.option(
    "--context",
    type=click.IntRange(0, 100_000),
    metavar="N",
    help="Tokens that a recalled block may have; 0: no bound.",
)
@click.option(
    "--dialectic",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Characters of a question that the dialectic is given.",
)
@host_option
@file_option
@json_option
@socket_option
def tokens(
    context: int | None, dialectic: int | None, host_name: str, named_file: Path | None, as_json: bool
) -> None:
    """Show or set the budgets of a host's recall."""
    changes: dict[str, Any] = {}
    if context is not None:
        changes["contextTokens"] = context or None
    if dialectic is not None:
        changes["dialecticMaxInputChars"] = dialectic
    manage(host_name, named_file, changes, _view, as_json=as_json)


def _view(host: Host) -> dict[str, Any]:
    return {"context": host.recall.context_tokens, "dialectic": host.dialectic.max_input_chars}

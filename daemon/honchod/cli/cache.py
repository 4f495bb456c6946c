"""``honchod cache``: the recall cache."""

from __future__ import annotations

import click

from honchod.cli.answers import read
from honchod.cli.options import confirm, json_option, open_client, socket_option, yes_option
from honchod.cli.output import facts, show, show_json
from honchod.ops.amounts import number
from honchod.recall.requests import Cleared


@click.group()
@socket_option
def cache() -> None:
    """Look after the recall cache.

    Example: honchod cache clear
    """


@cache.command(epilog="Example: honchod cache clear --yes")
@yes_option
@json_option
@socket_option
def clear(yes: bool, as_json: bool) -> None:
    """Forget every cached answer, in memory and on disk. The next recalls begin cold."""
    confirm("Forget every cached answer?", yes=yes)
    with open_client() as client:
        answer = client.call("POST", "/v1/cache/clear", repeatable=True)
    if as_json:
        show_json(answer)
    else:
        show([facts(forgotten=number(read(answer, Cleared).cleared))])

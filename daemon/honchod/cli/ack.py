"""``honchod ack``."""

from __future__ import annotations

import click

from honchod.cli.answers import read
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import facts, show, show_json
from honchod.ops.amounts import number
from honchod.ops.views import Acknowledged


@click.command(epilog="Example: honchod ack")
@json_option
@socket_option
def ack(as_json: bool) -> None:
    """Take the notices of the status as read.

    That a damaged database was replaced stands in status, log and metrics until somebody has read it.
    """
    with open_client() as client:
        answer = client.acknowledge()
    if as_json:
        show_json(answer)
        return
    show([facts(acknowledged=number(read(answer, Acknowledged).acknowledged))])

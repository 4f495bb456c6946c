"""``honchod wake``, ``pause`` and ``resume``: the delivery worker."""

from __future__ import annotations

from typing import Any

import click

from honchod.cli.answers import read
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import Cell, Tone, facts, show, show_json
from honchod.ops.amounts import number
from honchod.ops.views import WorkerState


@click.command(epilog="Example: honchod wake")
@json_option
@socket_option
def wake(as_json: bool) -> None:
    """Make everything that waits due now.

    Destinations that were away or refused the key are probed. A pause that a server asked for stands.
    """
    with open_client() as client:
        _show(client.wake(), as_json=as_json)


@click.command(epilog="Example: honchod pause")
@json_option
@socket_option
def pause(as_json: bool) -> None:
    """Stop delivering; messages are taken in all the same."""
    with open_client() as client:
        _show(client.pause(), as_json=as_json)


@click.command(epilog="Example: honchod resume")
@json_option
@socket_option
def resume(as_json: bool) -> None:
    """Deliver again."""
    with open_client() as client:
        _show(client.resume(), as_json=as_json)


def _show(answer: Any, *, as_json: bool) -> None:
    if as_json:
        show_json(answer)
        return
    state = read(answer, WorkerState)
    worker = Cell("paused", Tone.WARNING) if state.paused else "running"
    show([facts(worker=worker, pending=number(state.pending))])

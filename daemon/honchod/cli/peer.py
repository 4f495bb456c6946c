"""``honchod peer``: the names of a host's user and agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from honchod.cli.hosts_file import file_option, host_option
from honchod.cli.manage import given, manage, one_of
from honchod.cli.options import json_option, socket_option
from honchod.identity.choices import ReasoningLevel
from honchod.identity.host import Host

EPILOG = """\b
examples:
  honchod peer --host hermes
  honchod peer --host hermes --user ann --ai hermes --reasoning low
"""


@click.command(epilog=EPILOG)
@click.option("--user", metavar="NAME", help="The person's peer.")
@click.option("--ai", metavar="NAME", help="The agent's peer.")
@click.option("--reasoning", type=one_of(ReasoningLevel), help="How hard the dialectic thinks by itself.")
@host_option
@file_option
@json_option
@socket_option
def peer(
    user: str | None,
    ai: str | None,
    reasoning: str | None,
    host_name: str,
    named_file: Path | None,
    as_json: bool,
) -> None:
    """Show the peers of a host, or rename them. What was said stays with the peer that said it."""
    changes = given(peerName=user, aiPeer=ai, dialecticReasoningLevel=reasoning)
    manage(host_name, named_file, changes, _view, as_json=as_json)


def _view(host: Host) -> dict[str, Any]:
    return {"user": host.peers.user, "ai": host.peers.ai, "reasoning": host.dialectic.level.value}

"""``honchod mode``: how a host recalls, and where each side's memory is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from honchod.cli.hosts_file import file_option, host_option
from honchod.cli.manage import given, manage, one_of
from honchod.cli.options import json_option, socket_option
from honchod.identity.choices import MemoryMode, RecallMode
from honchod.identity.host import Host

EPILOG = """\b
examples:
  honchod mode --host hermes
  honchod mode context --host hermes
  honchod mode --host openclaw --memory honcho --agent-memory local

\b
recall:  hybrid   context before each turn, and tools
         context  context before each turn, tools hidden
         tools    tools, nothing before a turn
memory:  hybrid   in Honcho and in the agent's own files
         honcho   in Honcho only
         local    in the agent's own files only
"""

_memory = one_of(MemoryMode)


@click.command(epilog=EPILOG)
@click.argument("recall", metavar="[MODE]", required=False, type=one_of(RecallMode))
@click.option("--memory", type=_memory, help="Where the memory of both sides is kept.")
@click.option("--user-memory", type=_memory, help="Where that of the user is kept, whatever --memory says.")
@click.option("--agent-memory", type=_memory, help="Where that of the agent is kept.")
@host_option
@file_option
@json_option
@socket_option
def mode(
    recall: str | None,
    memory: str | None,
    user_memory: str | None,
    agent_memory: str | None,
    host_name: str,
    named_file: Path | None,
    as_json: bool,
) -> None:
    """Show or set how a host recalls (MODE) and where its memory is kept."""
    changes = given(recallMode=recall, userMemoryMode=user_memory, agentMemoryMode=agent_memory)
    if memory is not None:
        # Said for both sides: what was said of one of them before no longer counts.
        changes = {"userMemoryMode": None, "agentMemoryMode": None, **changes, "memoryMode": memory}
    manage(host_name, named_file, changes, _view, as_json=as_json)


def _view(host: Host) -> dict[str, Any]:
    return {
        "recall": host.recall.mode.value,
        "user_memory": host.modes.user.value,
        "agent_memory": host.modes.agent.value,
    }

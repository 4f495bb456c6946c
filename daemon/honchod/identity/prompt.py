"""The static block of the system prompt: who the agent is, that memory is on, what its user can type.

It says nothing that changes from turn to turn, so that a provider's prompt cache keeps what stands around it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from honchod.identity import modes
from honchod.identity.choices import RecallMode
from honchod.identity.host import DEFAULT_HOST, Host


class Command(NamedTuple):
    """A management command as a user types it, and what it does."""

    usage: str
    meaning: str


COMMANDS: Final = (
    Command("status", "queue, delivery and destinations"),
    Command("check", "probe every destination with its key"),
    Command("mode [hybrid|context|tools]", "show or set how memory is recalled"),
    Command("peer [--user NAME] [--ai NAME]", "show or set the names of user and agent"),
    Command("strategy [STRATEGY]", "show or set how sessions are named"),
    Command("tokens [--context N]", "show or set the budget of a recall"),
    Command("sessions", "list the directories that are mapped to sessions"),
    Command("map NAME", "map this directory to a session"),
    Command("identity seed FILE", "tell memory who the agent is"),
    Command("identity show", "what memory knows of user and agent"),
    Command("setup", "set the connection to Honcho up"),
)
"""In the order in which they are listed."""

_OF_HOST: Final = frozenset(COMMANDS[2:])
_RECALL: Final = {
    RecallMode.HYBRID: "What is remembered stands before each turn; the honcho tools find more.",
    RecallMode.CONTEXT: "What is remembered stands before each turn.",
    RecallMode.TOOLS: "Use the honcho tools to find what is remembered.",
}


def block(host: Host, session: str | None) -> str:
    """The block for a host's agent, and for one session where given; empty while the host is disabled."""
    if not host.enabled:
        return ""
    named = host.peers.ai != host.name
    where = [f"Session: {session}."] if session else []
    capture = [] if modes.captures(host) else ["Capture is off: nothing said here is kept by itself."]
    lines = [
        *([f"You are {host.peers.ai}.", ""] if named else []),
        "# Honcho memory",
        " ".join(["Active.", *where, f"Mode: {host.recall.mode}.", _RECALL[host.recall.mode], *capture]),
        "Management commands, for the user's shell:",
        *_listed(host),
    ]
    return "\n".join(lines)


def commands(host: Host) -> tuple[Command, ...]:
    """The commands as this host's user types them."""
    option = "" if host.name == DEFAULT_HOST else f" --host {host.name}"
    return tuple(
        Command(f"honchod {command.usage}{option if command in _OF_HOST else ''}", command.meaning)
        for command in COMMANDS
    )


def _listed(host: Host) -> list[str]:
    listed = commands(host)
    width = max(len(command.usage) for command in listed)
    return [f"  {command.usage:<{width}}  {command.meaning}" for command in listed]

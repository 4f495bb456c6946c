"""Every command but ``send``: a click group that imports a command's module when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import click
from click.shell_completion import CompletionItem

from honchod import __version__
from honchod.cli.options import socket_option

if TYPE_CHECKING:
    from collections.abc import Sequence


class Entry(NamedTuple):
    """Where a command lives: attribute ``name`` (or ``attribute``) of module ``honchod.cli.<module>``.

    It is a click command, or what makes the parser of one that does without click.

    ``help`` is its line in ``honchod --help``, which so needs no import.
    """

    module: str
    help: str
    attribute: str | None = None


COMMANDS: dict[str, Entry] = {
    "run": Entry("run", "Run the daemon in the foreground."),
    "demo": Entry("demo.command", "See it work: a daemon and a sandbox server in a temporary directory."),
    "sandbox": Entry("sandbox", "Run a small Honcho server for trials, with faults on demand."),
    "send": Entry("send", "Hand over a message.", attribute="make_parser"),
    "recall": Entry("recall", "Print what memory has for the prompt.", attribute="make_parser"),
    "status": Entry("status", "Show queue, delivery, destinations and cache."),
    "top": Entry("top", "Watch lanes by age, dead letters and throughput."),
    "letters": Entry("letters", "Look at, retry or discard dead letters."),
    "ack": Entry("ack", "Take the notices of the status as read."),
    "wake": Entry("worker", "Make everything that waits due now."),
    "pause": Entry("worker", "Stop delivering; intake goes on."),
    "resume": Entry("worker", "Deliver again."),
    "drain": Entry("drain", "Wait until the queue is empty."),
    "cache": Entry("cache", "Forget what is cached for recall."),
    "recall-log": Entry("recall_log", "Show what the last recalls were, without content."),
    "tools": Entry("tools", "List the memory tools, or call one."),
    "mcp": Entry("mcp", "Serve the memory tools to an MCP client, over stdin and stdout."),
    "check": Entry("check", "Probe every destination with its key."),
    "ui": Entry("ui", "Tell where the web page is, and once its token."),
    "reload": Entry("reload", "Read the configuration again."),
    "backup": Entry("backup", "Copy the running queue to a file, and verify the copy."),
    "restore": Entry("restore", "Put a backup into the place of the queue."),
    "doctor": Entry("doctor", "Look for what is wrong, and say how to mend it."),
    "setup": Entry("setup", "Set the connection to Honcho up, and check it."),
    "enable": Entry("enable", "Let a host use memory."),
    "disable": Entry("enable", "Keep a host from using memory."),
    "peer": Entry("peer", "Show or rename the peers of a host."),
    "peers": Entry("peers", "List workspace, user and agent of every host."),
    "mode": Entry("mode", "Show or set how a host recalls and where its memory is kept."),
    "strategy": Entry("strategy", "Show or set how sessions and scopes get their names."),
    "tokens": Entry("tokens", "Show or set the budgets of a host's recall."),
    "sessions": Entry("sessions", "List the directories that are mapped to sessions."),
    "map": Entry("sessions", "Map a directory to a session.", attribute="map_directory"),
    "identity": Entry("identity", "Tell memory who the agent is, and see what it knows."),
    "sync": Entry("sync", "Make a host block for every profile that has none."),
    "migrate": Entry("migrate", "Take an agent's memory files in, once."),
    "completion": Entry("completion", "Print the completion script of a shell."),
}

EPILOG = """\b
examples:
  honchod demo
  honchod run --config /etc/honchod/honchod.toml
  honchod send --session chat-7 "I moved to Lisbon."
  honchod recall --session chat-7 "where do I live?"
  honchod status --watch

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 daemon not reachable, 4 not allowed.
"""


class LazyGroup(click.Group):
    """A group whose commands are imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order in which help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None for a name that is none."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        attribute = entry.attribute or cmd_name.replace("-", "_")
        found = getattr(import_module(f"honchod.cli.{entry.module}"), attribute)
        if isinstance(found, click.Command):
            return found
        from honchod.cli.standing import as_click

        return as_click(cmd_name, found())

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names that begin so, without importing any."""
        names = [
            CompletionItem(name, help=entry.help)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="honchod")
@socket_option
def app() -> None:
    """The memory daemon of one machine.

    It keeps what agents say on disk, delivers it to Honcho once and in order, and gives memory back.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit code and raises what a command raises."""
    try:
        code = app.main(args=list(arguments), prog_name="honchod", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0

"""What the commands that talk to the daemon have in common."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from honchod.cli.exits import Exit
from honchod.client.blocking import Client


def _remember_socket(ctx: click.Context, _parameter: click.Parameter, path: str | None) -> None:
    if path is not None:
        ctx.find_root().obj = path


socket_option = click.option(
    "--socket",
    metavar="PATH",
    callback=_remember_socket,
    expose_value=False,
    help="The daemon's socket (default: $HONCHOD_SOCKET, else the usual places).",
)
"""``--socket``, before or after the command's name; the later one wins."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print the daemon's answer as JSON.")

config_option = click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE", help="The honchod.toml to read."
)

state_dir_option = click.option(
    "--state-dir", type=click.Path(path_type=Path), metavar="DIR", help="Where the queue is kept."
)

yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def named_socket() -> str | None:
    """The socket that the command line names, if any."""
    path: str | None = click.get_current_context().find_root().obj
    return path


def open_client() -> Client:
    """A client of the daemon that the command line, the environment or the usual places name."""
    return Client(named_socket())


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal, unless told not to; "no" ends the command with exit code 1.

    A script that spelled the command out is not asked.
    """
    if not yes and sys.stdin.isatty() and not click.confirm(question, err=True):
        raise click.exceptions.Exit(Exit.FAILED)

"""``honchod sessions`` and ``honchod map``: directories that have a session of their own name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from honchod.cli.hosts_file import HostsFile, explain, file_option, host_option, tell_daemon
from honchod.cli.options import json_option, socket_option
from honchod.cli.output import Block, Table, cell, facts, show, show_json
from honchod.identity.host import Host
from honchod.identity.sessions import normal_directory

EPILOG = """\b
examples:
  honchod map my-project --host hermes
  honchod map shared --directory /srv/work
  honchod map --remove
  honchod map

A directory below a mapped one has its session too, unless it is mapped itself.
"""


@click.command(epilog="Example: honchod sessions --host hermes")
@host_option
@file_option
@json_option
@socket_option
def sessions(host_name: str, named_file: Path | None, as_json: bool) -> None:
    """List the directories that are mapped to sessions."""
    _list(HostsFile.locate(named_file).host(host_name), as_json=as_json)


@click.command("map", epilog=EPILOG)
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="The directory that is meant (default: this one).",
)
@click.option("--remove", is_flag=True, help="Take the mapping of the directory away.")
@host_option
@file_option
@json_option
@socket_option
def map_directory(
    name: str | None,
    directory: Path | None,
    remove: bool,
    host_name: str,
    named_file: Path | None,
    as_json: bool,
) -> None:
    """Map a directory to the session NAME; without a name, list the mappings."""
    if name and remove:
        raise click.UsageError("give a NAME, or --remove, not both")
    file = HostsFile.locate(named_file)
    host = file.host(host_name)
    if not name and not remove:
        _list(host, as_json=as_json)
        return
    chosen = normal_directory(str((directory or Path.cwd()).absolute()))
    names = {place: named for place, named in host.sessions.names.items() if place != chosen}
    if remove and len(names) == len(host.sessions.names):
        raise click.UsageError(f"{chosen} is not mapped")
    if name:
        names[chosen] = name
    # The whole table: a host's own replaces that of the root.
    host = file.change(host_name, {"sessions": names})
    told = tell_daemon()
    answer: dict[str, Any] = {
        "host": host.name,
        "directory": chosen,
        "session": host.sessions.names.get(chosen),
        "file": str(file.path),
        "daemon": told.value,
    }
    if as_json:
        show_json(answer)
    else:
        show([facts(**answer)])
    explain(told)


def _list(host: Host, *, as_json: bool) -> None:
    if as_json:
        show_json({"host": host.name, "sessions": dict(host.sessions.names)})
    else:
        show([_table(host)])


def _table(host: Host) -> Block:
    rows = tuple((cell(place), cell(name)) for place, name in sorted(host.sessions.names.items()))
    return Table("Sessions", ("directory", "session"), rows, empty="no directory is mapped")

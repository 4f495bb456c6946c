"""``honchod sync``: a host block for every profile of an agent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from honchod.cli.hosts_file import HostsFile, explain, file_option, tell_daemon
from honchod.cli.options import json_option, socket_option
from honchod.cli.output import Table, cell, show, show_json
from honchod.identity.document import block_of
from honchod.identity.files import is_there, read_document
from honchod.identity.host import canonical_name

EPILOG = """\b
examples:
  honchod sync
  honchod sync --host hermes coder writer

A profile's block is that of its host with an agent of its own: hermes and coder make hermes_coder, whose
agent is coder. Workspace, user, key and modes are the host's. Blocks that are there stay as they are.
"""

NOT_SHARED: Final = frozenset({"aiPeer", "enabled"})
"""Keys of the host's block that are not a profile's."""


@click.command(epilog=EPILOG)
@click.argument("profiles", metavar="[PROFILE]...", nargs=-1)
@click.option(
    "--host", "host_name", default="hermes", metavar="HOST", show_default=True, help="Whose profiles."
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Where a directory for each profile is (default: $HERMES_HOME/profiles, ~/.hermes/profiles).",
)
@file_option
@json_option
@socket_option
def sync(
    profiles: tuple[str, ...],
    host_name: str,
    directory: Path | None,
    named_file: Path | None,
    as_json: bool,
) -> None:
    """Make a host block for every profile that has none."""
    file = HostsFile.locate(named_file)
    configured = file.hosts()
    names = profiles or tuple(_found(directory or _usual(os.environ)))
    shared = _shared(file, host_name)
    made: dict[str, str] = {}
    for profile in names:
        block = canonical_name(f"{host_name}_{profile}")
        if block not in configured and block not in made:
            file.change(block, {**shared, "aiPeer": profile})
            made[block] = profile
    told = tell_daemon() if made else None
    if as_json:
        show_json({"made": made, "file": str(file.path), "daemon": told})
    else:
        rows = tuple((cell(block), cell(profile)) for block, profile in made.items())
        show([Table("Made", ("host", "agent"), rows, empty="every profile has its block")])
    if told is not None:
        explain(told)


def _usual(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HERMES_HOME") or Path(environ.get("HOME") or "/", ".hermes"), "profiles")


def _found(directory: Path) -> Iterator[str]:
    if directory.is_dir():
        yield from sorted(
            path.name for path in directory.iterdir() if path.is_dir() and not path.name.startswith(".")
        )


def _shared(file: HostsFile, host_name: str) -> dict[str, Any]:
    """What the blocks of the host's profiles have from its own. The workspace is the host's by name too."""
    host = file.host(host_name)
    document = read_document(file.path) if is_there(file.path) else {}
    own = {key: value for key, value in block_of(document, host_name).items() if key not in NOT_SHARED}
    return {"workspace": host.workspace, **own}

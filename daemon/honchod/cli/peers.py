"""``honchod peers``: who is who, on every host."""

from __future__ import annotations

from pathlib import Path

import click

from honchod.cli.hosts_file import HostsFile, file_option
from honchod.cli.options import json_option, socket_option
from honchod.cli.output import Cell, Table, Tone, cell, show, show_json
from honchod.identity.host import Host


@click.command(epilog="Example: honchod peers")
@file_option
@json_option
@socket_option
def peers(named_file: Path | None, as_json: bool) -> None:
    """List workspace, user and agent of every host."""
    hosts = HostsFile.locate(named_file).hosts()
    ordered = [hosts[name] for name in sorted(hosts)]
    if as_json:
        show_json(
            [
                {
                    "host": host.name,
                    "enabled": host.enabled,
                    "workspace": host.workspace,
                    "user": host.peers.user,
                    "ai": host.peers.ai,
                }
                for host in ordered
            ]
        )
    else:
        show([Table("Peers", ("host", "enabled", "workspace", "user", "ai"), tuple(map(_row, ordered)))])


def _row(host: Host) -> tuple[Cell, ...]:
    return (
        cell(host.name),
        Cell("yes") if host.enabled else Cell("no", Tone.WARNING),
        cell(host.workspace),
        cell(host.peers.user),
        cell(host.peers.ai),
    )

"""``honchod enable`` and ``honchod disable``: a host as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from honchod.cli.hosts_file import HostsFile, explain, file_option, tell_daemon
from honchod.cli.manage import manage, report
from honchod.cli.options import json_option, socket_option
from honchod.identity.host import Host


@click.command(epilog="Example: honchod enable hermes")
@click.argument("host_name", metavar="HOST")
@file_option
@json_option
@socket_option
def enable(host_name: str, named_file: Path | None, as_json: bool) -> None:
    """Let a host use memory; its block is made when there is none."""
    file = HostsFile.locate(named_file)
    host = file.change(host_name, {"enabled": True})
    told = tell_daemon()
    report(host, _view(host), as_json=as_json, file=str(file.path), daemon=told.value)
    explain(told)


@click.command(epilog="Example: honchod disable hermes")
@click.argument("host_name", metavar="HOST")
@file_option
@json_option
@socket_option
def disable(host_name: str, named_file: Path | None, as_json: bool) -> None:
    """Keep a host from using memory: nothing is captured or sent; what waits stays."""
    manage(host_name, named_file, {"enabled": False}, _view, as_json=as_json)


def _view(host: Host) -> dict[str, Any]:
    return {
        "enabled": host.enabled,
        "workspace": host.workspace,
        "user": host.peers.user,
        "ai": host.peers.ai,
    }

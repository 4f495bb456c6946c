"""What every management command of one host does: show some of its settings, or change them and tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import click

from honchod.cli.hosts_file import HostsFile, explain, tell_daemon
from honchod.cli.output import facts, show, show_json
from honchod.identity.host import Host

View = Callable[[Host], dict[str, Any]]
"""The settings that a command is about, by name."""


def manage(
    host_name: str, named_file: Path | None, changes: Mapping[str, Any], view: View, *, as_json: bool
) -> None:
    """Make the changes in a configured host's block, if there are any, and show what holds then."""
    file = HostsFile.locate(named_file)
    host = file.host(host_name)
    if not changes:
        report(host, view(host), as_json=as_json)
        return
    host = file.change(host_name, changes)
    told = tell_daemon()
    report(host, view(host), as_json=as_json, file=str(file.path), daemon=told.value)
    explain(told)


def report(host: Host, seen: Mapping[str, Any], *, as_json: bool, **more: str) -> None:
    """Print a host's settings: what is asked about, and where it stands."""
    answer = {"host": host.name, **seen, **more}
    if as_json:
        show_json(answer)
    else:
        show([facts(**answer)])


def one_of(words: type[StrEnum]) -> click.Choice[str]:
    """A choice between the words of a setting, as the file spells them."""
    return click.Choice([word.value for word in words])


def given(**options: Any) -> dict[str, Any]:
    """The keys of those options that were given."""
    return {key: value for key, value in options.items() if value is not None}

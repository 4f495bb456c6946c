"""The Honcho config file as the management commands see it: read, changed, and the daemon told."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import click

from honchod.cli.exits import Exit
from honchod.cli.options import open_client
from honchod.cli.printable import printable
from honchod.client.errors import NotAllowed, NotReachable
from honchod.errors import ConfigError, UnknownHost
from honchod.identity import files
from honchod.identity.host import DEFAULT_HOST, Host, Hosts
from honchod.service import settings
from honchod.service.settings import Flags

host_option = click.option(
    "--host",
    "host_name",
    default=DEFAULT_HOST,
    metavar="HOST",
    show_default=True,
    help="The host block that is meant.",
)
file_option = click.option(
    "--honcho-config",
    "named_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The Honcho config file (default: the one that the daemon uses).",
)


class Misconfigured(click.ClickException):
    """A configuration is wrong, or names no such host: one line each, exit code 2."""

    exit_code = Exit.USAGE

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the lines to stderr."""
        for problem in self.problems:
            click.echo(f"honchod: {printable(problem)}", err=True, file=file)


class Told(StrEnum):
    """What the daemon did with a changed file."""

    RELOADED = "reloaded"
    NOT_RUNNING = "not_running"
    """None answers: it takes effect when one starts."""
    NOT_ALLOWED = "not_allowed"
    """This user may not tell it: an operator has to (``honchod reload``)."""


@dataclass(frozen=True, slots=True)
class HostsFile:
    """One Honcho config file, which need not be there yet."""

    path: Path

    @classmethod
    def locate(cls, named: Path | None) -> HostsFile:
        """The file that is named, else the one that a daemon of this environment uses or would use."""
        if named is not None:
            return cls(named.absolute())
        with _explained():
            configured = settings.load(None, env=os.environ, flags=Flags()).honcho_config
        return cls(configured or files.find(os.environ) or files.new(os.environ))

    def hosts(self) -> Hosts:
        """What the file and the environment say."""
        with _explained():
            return files.load(self.path if files.is_there(self.path) else None, os.environ)

    def host(self, name: str) -> Host:
        """One host, which has to be configured."""
        with _explained():
            return self.hosts().named(name)

    def change(self, host_name: str, changes: Mapping[str, Any]) -> Host:
        """Change keys of a host's block (None removes one); the file stays as it is when that is wrong."""
        with _explained():
            return files.edit(self.path, os.environ, host_name, changes).named(host_name)


def tell_daemon() -> Told:
    """Have the running daemon read its configuration again. Raises what a refusal raises."""
    try:
        with open_client() as client:
            client.reload()
    except NotReachable:
        return Told.NOT_RUNNING
    except NotAllowed:
        return Told.NOT_ALLOWED
    return Told.RELOADED


def explain(told: Told) -> None:
    """Say on stderr, on a terminal, what is left to do."""
    hints = {
        Told.NOT_RUNNING: "no daemon runs: this holds from its next start",
        Told.NOT_ALLOWED: "the daemon was not told: have an operator run honchod reload",
    }
    if told in hints and sys.stderr.isatty():
        click.echo(hints[told], err=True)


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        raise Misconfigured(error.problems) from None
    except UnknownHost as error:
        raise Misconfigured((error.detail,)) from None
    except OSError as error:
        raise Misconfigured((f"{error.filename}: {error.strerror}",)) from None

"""``honchod migrate``: an agent's memory files, taken in once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honchod.capture.seed_requests import SeedResult
from honchod.cli.answers import read
from honchod.cli.exits import Exit
from honchod.cli.hosts_file import host_option
from honchod.cli.memory_files import MemoryFile, find, read_file, usual_directories
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import Cell, Table, Tone, cell, show, show_json
from honchod.client.errors import Rejected

if TYPE_CHECKING:
    from honchod.client import Client

EPILOG = """\b
examples:
  honchod migrate --host openclaw --dry-run
  honchod migrate ~/.hermes --host hermes

USER.md and MEMORY.md become files of the user; SOUL.md, IDENTITY.md, AGENTS.md, TOOLS.md and BOOTSTRAP.md
become what the agent says of itself. What was taken in before is not taken in again. The files stay.
"""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of one file; ``session`` and ``parts`` are there when it was taken in."""

    file: MemoryFile
    status: str
    reason: str | None = None
    session: str | None = None
    parts: int | None = None

    @property
    def failed(self) -> bool:
        return self.status == "failed"


@click.command(epilog=EPILOG)
@click.argument(
    "directory",
    metavar="[DIR]",
    required=False,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
@click.option("--dry-run", is_flag=True, help="Only say what would be taken in.")
@click.option("--again", is_flag=True, help="Also what was taken in before.")
@host_option
@json_option
@socket_option
def migrate(directory: Path | None, dry_run: bool, again: bool, host_name: str, as_json: bool) -> int:
    """Take the memory files of an agent in: those in DIR, or where the host's agent usually keeps them."""
    files = find(directory or _usual(host_name))
    if not files:
        click.echo("honchod: nothing to take in: no memory file is there", err=True)
        return Exit.FAILED
    if dry_run:
        outcomes = [_Outcome(file, "found") for file in files]
    else:
        with open_client() as client:
            outcomes = [_take(client, host_name, file, again=again) for file in _with_progress(files)]
    if as_json:
        show_json([_record(outcome) for outcome in outcomes])
    else:
        columns = ("file", "as", "status", "reason", "session", "messages")
        show([Table("Memory files", columns, tuple(map(_row, outcomes)))])
    return Exit.FAILED if any(outcome.failed for outcome in outcomes) else Exit.DONE


def _usual(host_name: str) -> Path:
    found = next((path for path in usual_directories(host_name, os.environ) if path.is_dir()), None)
    if found is None:
        raise click.UsageError(f"say in which DIR the agent of {host_name} keeps its files")
    return found


def _take(client: Client, host_name: str, file: MemoryFile, *, again: bool) -> _Outcome:
    body = {"host": host_name, "source": file.path.name, "content": read_file(file.path), "again": again}
    try:
        # It may be asked for twice: the ledger knows the second time.
        answer = client.call("POST", f"/v1/identity/{file.use}", body, repeatable=not again)
    except Rejected as refused:
        return _Outcome(file, "failed", f"{refused.code}: {refused.detail}")
    result = read(answer, SeedResult)
    return _Outcome(file, result.status, result.reason, result.session, result.parts)


def _with_progress(files: list[MemoryFile]) -> Iterable[MemoryFile]:
    """The files one after the other; on a terminal a bar shows how far it is."""
    if not sys.stderr.isatty():
        return files
    from rich.console import Console
    from rich.progress import track

    return track(files, "taking in", console=Console(stderr=True), transient=True)


def _record(outcome: _Outcome) -> dict[str, object]:
    record = {
        "file": str(outcome.file.path),
        "as": outcome.file.use.value,
        "status": outcome.status,
        "reason": outcome.reason,
        "session": outcome.session,
        "parts": outcome.parts,
    }
    return {name: value for name, value in record.items() if value is not None}


def _row(outcome: _Outcome) -> tuple[Cell, ...]:
    tone = Tone.BAD if outcome.failed else Tone.PLAIN
    return (
        cell(outcome.file.path),
        cell(outcome.file.use.value),
        Cell(outcome.status, tone),
        cell(outcome.reason),
        cell(outcome.session),
        cell(outcome.parts),
    )

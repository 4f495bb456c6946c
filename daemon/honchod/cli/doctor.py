"""``honchod doctor``."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honchod.cli.answers import read
from honchod.cli.exits import Exit
from honchod.cli.options import (
    config_option,
    json_option,
    named_socket,
    open_client,
    socket_option,
    state_dir_option,
    yes_option,
)
from honchod.cli.output import Block, Cell, Table, Tone, cell, show, show_json
from honchod.client.errors import ClientError, NotAllowed, NotReachable
from honchod.ops.views import Checks, Health, Status

if TYPE_CHECKING:
    from honchod.ops.doctor.finding import Command, Finding

TONES = {"ok": Tone.GOOD, "skipped": Tone.PLAIN, "warning": Tone.WARNING, "wrong": Tone.BAD}

EPILOG = """\b
examples:
  honchod doctor
  honchod doctor --offline
  honchod doctor --offline --mend

Exit code 1 when something is wrong. Run it as the user that runs the daemon, or as root: others may not look
everywhere.
"""


@click.command(epilog=EPILOG)
@click.option("--offline", is_flag=True, help="Also read the whole database; refuses while the daemon runs.")
@click.option(
    "--mend", is_flag=True, help="Run the commands that mend what was found, each after a question."
)
@config_option
@state_dir_option
@yes_option
@json_option
@socket_option
def doctor(
    offline: bool, mend: bool, config: Path | None, state_dir: Path | None, yes: bool, as_json: bool
) -> int:
    """Look at configuration, permissions, socket, database, machine, unit and servers, and say how to mend
    what is wrong.
    """
    from honchod.errors import StateDirBusy

    try:
        findings = _look(config, state_dir, offline=offline)
        if mend:
            for finding in findings:
                for command in finding.mend:
                    _run(finding, command, yes=yes)
            findings = _look(config, state_dir, offline=offline)
    except StateDirBusy as error:
        click.echo(f"honchod: {error}", err=True)
        return Exit.FAILED
    if as_json:
        show_json(_answer(findings))
    else:
        show(blocks(findings))
    return Exit.FAILED if any(finding.grade == "wrong" for finding in findings) else Exit.DONE


def blocks(findings: Sequence[Finding]) -> list[Block]:
    """What was found, then how to mend what is not well."""
    faults = [finding for finding in findings if finding.advice]
    return [
        Table(
            "Findings",
            ("check", "result", "found"),
            tuple(
                (cell(each.check), Cell(each.grade, TONES[each.grade]), cell(each.found)) for each in findings
            ),
        ),
        Table(
            "To mend",
            ("check", "advice", "command"),
            tuple(
                (cell(each.check), cell(each.advice), cell("; ".join(map(shlex.join, each.mend)) or None))
                for each in faults
            ),
        ),
    ]


def _look(config: Path | None, state_dir: Path | None, *, offline: bool) -> list[Finding]:
    from honchod.service.diagnosis import diagnose
    from honchod.service.settings import Flags

    socket = named_socket()
    flags = Flags(socket=Path(socket) if socket else None, state_dir=state_dir)
    _, findings = diagnose(config, os.environ, flags, offline=offline)
    return findings if offline else [*findings, *_ask()]


def _ask() -> list[Finding]:
    """What the daemon says of itself, if one answers."""
    from honchod.ops.doctor import daemon
    from honchod.ops.doctor.finding import skipped

    with open_client() as client:
        try:
            health, status = read(client.health(), Health), read(client.status(), Status)
            return [*daemon.answers(health, status), *daemon.probes(read(client.checks(), Checks))]
        except NotReachable:
            return [daemon.silence(client.socket_path)]
        except NotAllowed:
            return [skipped(daemon.CHECK, "it tells only operators: run as its user, or as root")]
        except ClientError as error:
            return [skipped(daemon.CHECK, f"its answer says: {error}")]


def _run(finding: Finding, command: Command, *, yes: bool) -> None:
    """Run one command that mends, unless somebody at a terminal says no."""
    if not yes and sys.stdin.isatty():
        click.echo(f"{finding.check}: {finding.found}", err=True)
        if not click.confirm(f"{finding.advice}: run {shlex.join(command)}?", err=True):
            return
    program = [sys.executable, "-m", "honchod"] if command[0] == "honchod" else [command[0]]
    # What runs is one of our own commands, shown before.
    done = subprocess.run([*program, *command[1:]], check=False, stdout=subprocess.DEVNULL)  # noqa: S603
    if done.returncode:
        click.echo(f"honchod: {shlex.join(command)} ended with {done.returncode}", err=True)


def _answer(findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "ok": not any(finding.grade == "wrong" for finding in findings),
        "findings": [
            {
                "check": finding.check,
                "grade": str(finding.grade),
                "found": finding.found,
                "advice": finding.advice or None,
                "mend": [shlex.join(command) for command in finding.mend],
            }
            for finding in findings
        ],
    }

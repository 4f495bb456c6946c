"""``honchod setup``: the connection to Honcho, asked for or told by flags, written down and checked."""

from __future__ import annotations

import asyncio
import getpass
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from honchod.cli.exits import Exit
from honchod.cli.hosts_file import HostsFile, Told, explain, file_option, host_option, tell_daemon
from honchod.cli.options import json_option, socket_option
from honchod.cli.output import Cell, Tone, facts, show, show_json
from honchod.clock import SystemClock
from honchod.delivery.routes import routes
from honchod.gateway.pool import GatewayPool
from honchod.identity.host import Host
from honchod.identity.urls import CLOUD_URL, LOCAL_URL
from honchod.ops import checks
from honchod.ops.views import Check

CHECK_TIMEOUT_S: Final = 10.0
EPILOG = """\b
examples:
  honchod setup
  honchod setup --non-interactive --cloud --api-key-file ~/.honcho/key --user ann
  honchod setup --non-interactive --url http://localhost:8000 --host hermes --user ann --ai hermes

A key is never given on the command line, where others could read it: name a file, or pipe it in with
--key-stdin. A key that was there is kept as long as it goes to the same URL. Exit code 1 when the check
fails; what was set up stays.
"""


@dataclass(frozen=True, slots=True)
class Answers:
    """What is to be written. None: as it was."""

    url: str
    user: str | None
    ai: str | None
    workspace: str | None
    key: str | None = None
    key_file: Path | None = None
    no_key: bool = False

    def changes(self, present: Host | None) -> dict[str, Any]:
        """The keys to change in the host's block. A key that belongs to another URL goes."""
        changes: dict[str, Any] = {"baseUrl": self.url, "enabled": True}
        if self.key is not None:
            changes |= {"apiKey": self.key, "api_key_file": None}
        elif self.key_file is not None:
            changes |= {"apiKey": None, "api_key_file": str(self.key_file.absolute())}
        elif self.no_key or (present is not None and present.destination.url != self.url):
            changes |= {"apiKey": None, "api_key_file": None}
        named = {"peerName": self.user, "aiPeer": self.ai, "workspace": self.workspace}
        return changes | {key: name for key, name in named.items() if name}


@click.command(epilog=EPILOG)
@click.option("--non-interactive", is_flag=True, help="Ask nothing: flags, and what is there already.")
@click.option("--cloud", is_flag=True, help=f"The hosted Honcho ({CLOUD_URL}).")
@click.option("--url", metavar="URL", help="A self-hosted Honcho.")
@click.option(
    "--api-key-file",
    "key_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="The file that the key is read from, now and later.",
)
@click.option("--key-stdin", is_flag=True, help="Read the key from stdin and write it down.")
@click.option("--no-key", is_flag=True, help="The server asks for none.")
@click.option("--user", metavar="NAME", help="The person's peer.")
@click.option("--ai", metavar="NAME", help="The agent's peer (default: the name of the host).")
@click.option("--workspace", metavar="NAME", help="The workspace (default: the name of the host).")
@host_option
@file_option
@json_option
@socket_option
def setup(
    non_interactive: bool,
    cloud: bool,
    url: str | None,
    key_file: Path | None,
    key_stdin: bool,
    no_key: bool,
    user: str | None,
    ai: str | None,
    workspace: str | None,
    host_name: str,
    named_file: Path | None,
    as_json: bool,
) -> int:
    """Set the connection to Honcho up: URL, key and names of a host. Ends with a check."""
    if cloud and url:
        raise click.UsageError("--cloud or --url, not both")
    if sum((key_file is not None, key_stdin, no_key)) > 1:
        raise click.UsageError("one of --api-key-file, --key-stdin and --no-key")
    file = HostsFile.locate(named_file)
    present = _present(file, host_name)
    given = Answers(
        url=CLOUD_URL if cloud else url or "",
        user=user,
        ai=ai,
        workspace=workspace,
        key=_piped_key() if key_stdin else None,
        key_file=key_file,
        no_key=no_key,
    )
    answers = _settled(given, present) if non_interactive else _asked(given, present, host_name)
    host = file.change(host_name, answers.changes(present))
    check = asyncio.run(_check(host))
    told = tell_daemon()
    _show(host, file, check, told, as_json=as_json)
    return Exit.DONE if check.ok else Exit.FAILED


def _piped_key() -> str:
    key = sys.stdin.readline().strip()
    if not key:
        raise click.UsageError("--key-stdin: nothing came in")
    return key


def _present(file: HostsFile, host_name: str) -> Host | None:
    """The host as it is, if it is configured."""
    hosts = file.hosts()
    return hosts.get(host_name)


def _settled(given: Answers, present: Host | None) -> Answers:
    """The flags, and what is there."""
    return replace(given, url=given.url or (present.destination.url if present else CLOUD_URL))


def _asked(given: Answers, present: Host | None, host_name: str) -> Answers:
    """The flags, and what a person says to the rest. Prompts go to stderr."""
    answers = replace(given, url=given.url or _ask_url(present))
    if answers.key is None and answers.key_file is None and not answers.no_key:
        answers = _with_asked_key(answers, present)
    peers = present.peers if present else None
    return replace(
        answers,
        user=answers.user or _ask("Your name", (peers and peers.user) or getpass.getuser()),
        ai=answers.ai or _ask("The agent's name", peers.ai if peers else host_name),
        workspace=answers.workspace or _ask("Workspace", present.workspace if present else host_name),
    )


def _with_asked_key(answers: Answers, present: Host | None) -> Answers:
    there = present.destination if present else None
    kept = there is not None and there.url == answers.url and there.key is not None
    key = click.prompt(
        "API key (empty: keep the one that is there)" if kept else "API key (empty: none)",
        default="",
        hide_input=True,
        show_default=False,
        err=True,
    ).strip()
    return replace(answers, key=key or None, no_key=not key and not kept)


def _ask_url(present: Host | None) -> str:
    default = "cloud" if present is None or present.destination.url == CLOUD_URL else "self-hosted"
    kind = click.prompt(
        "Honcho in the cloud or self-hosted?",
        type=click.Choice(["cloud", "self-hosted"]),
        default=default,
        err=True,
    )
    if kind == "cloud":
        return CLOUD_URL
    return _ask("Its URL", present.destination.url if present and default == kind else LOCAL_URL)


def _ask(question: str, default: str) -> str:
    answer: str = click.prompt(question, default=default, err=True)
    return answer


async def _check(host: Host) -> Check:
    """One authenticated call with the very settings that were written."""
    if host.destination.url == CLOUD_URL and host.destination.key is None:
        return Check("api", False, "no_key", None, "the hosted Honcho needs a key: run setup again with one")
    clock = SystemClock()
    pool = GatewayPool(timeout_s=CHECK_TIMEOUT_S, rate=lambda _: 0.0, clock=clock)
    try:
        return await checks.api(routes({host.name: host}, b"")[host.name], pool, clock)
    finally:
        await pool.close()


def _show(host: Host, file: HostsFile, check: Check, told: Told, *, as_json: bool) -> None:
    answer = {
        "host": host.name,
        "url": host.destination.url,
        "key_source": host.key_source.value,
        "workspace": host.workspace,
        "user": host.peers.user,
        "ai": host.peers.ai,
        "file": str(file.path),
        "daemon": told.value,
        "check": check.code,
        "detail": check.detail,
    }
    if as_json:
        show_json({**answer, "ok": check.ok})
        return
    tone = Tone.GOOD if check.ok else Tone.BAD
    show([facts(**{**answer, "check": Cell(check.code, tone)})])
    explain(told)

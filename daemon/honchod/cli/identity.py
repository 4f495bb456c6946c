"""``honchod identity``: who the agent is, and what memory knows of both peers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from honchod.capture.seed_requests import SESSION_SUFFIX, SeedResult
from honchod.cli.answers import read
from honchod.cli.exits import Exit
from honchod.cli.hosts_file import host_option
from honchod.cli.memory_files import read_file
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import cell, facts, show, show_json
from honchod.identity.choices import Section
from honchod.identity.host import canonical_name

WAIT_MS = 5_000
"""How long to wait for Honcho; what is cached is shown if it takes longer."""

SECTIONS = (Section.USER_REPRESENTATION, Section.USER_CARD, Section.AI_REPRESENTATION, Section.AI_CARD)


@click.group(epilog="Example: honchod identity show --host hermes")
@socket_option
def identity() -> None:
    """Tell memory who the agent is, and see what it knows of user and agent."""


@identity.command("seed", epilog="Example: honchod identity seed SOUL.md --host hermes")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@click.option("--source", metavar="NAME", help="What to call it (default: the name of the file).")
@click.option("--session", metavar="S", help="The session it is said in (default: one of the host's own).")
@click.option("--again", is_flag=True, help="Even if it was taken in before.")
@host_option
@json_option
@socket_option
def seed(
    file: Path, source: str | None, session: str | None, again: bool, host_name: str, as_json: bool
) -> None:
    """Take a persona file in as something that the agent says of itself."""
    body: dict[str, Any] = {
        "host": host_name,
        "source": source or file.name,
        "content": read_file(file),
        "again": again,
    }
    if session:
        body["session"] = session
    with open_client() as client:
        answer = client.call("POST", "/v1/identity/seed", body)
    if as_json:
        show_json(answer)
        return
    result = read(answer, SeedResult)
    show([facts(session=result.session, status=result.status, reason=result.reason, parts=result.parts)])


@identity.command("show", epilog="Example: honchod identity show --host hermes --session chat-7")
@click.option("--session", metavar="S", help="As seen from this session (default: one of the host's own).")
@host_option
@json_option
@socket_option
def show_identity(session: str | None, host_name: str, as_json: bool) -> int:
    """Show the representations and cards of user and agent."""
    body = {
        "host": host_name,
        "session": session or canonical_name(host_name) + SESSION_SUFFIX,
        "sections": list(SECTIONS),
        "wait_ms": WAIT_MS,
    }
    with open_client() as client:
        answer = client.call("POST", "/v1/recall", body, repeatable=True, timeout_s=WAIT_MS / 1000 + 10)
    if as_json:
        show_json(answer)
    else:
        sections = answer.get("sections", {})
        known = {section.value: cell(sections.get(section.value)) for section in SECTIONS}
        show([facts(status=answer.get("status"), **known)])
    return Exit.FAILED if answer.get("status") == "unavailable" else Exit.DONE

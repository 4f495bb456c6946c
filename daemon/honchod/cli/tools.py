"""``honchod tools list / call NAME JSON``."""

from __future__ import annotations

import json
from typing import Any

import click

from honchod.cli.exits import Exit
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import Table, cell, show, show_json
from honchod.cli.printable import printable

FAMILIES = ("hermes", "agent_zero", "openclaw")

host_option = click.option("--host", metavar="H", help="The host block (default: default).")


@click.group(epilog='Example: honchod tools call honcho_search \'{"query": "Lisbon"}\' --session chat-7')
def tools() -> None:
    """List the memory tools, or call one."""


@tools.command("list")
@host_option
@click.option("--family", type=click.Choice(FAMILIES), help="Only the names that these agents know.")
@json_option
@socket_option
def list_tools(host: str | None, family: str | None, as_json: bool) -> int:
    """List the tools of a host; with --json as function schemas for a model."""
    with open_client() as client:
        answer = client.tools(host=host, family=family)
    if as_json:
        show_json(answer)
    else:
        rows = tuple(
            (cell(tool["function"]["name"]), cell(tool["function"]["description"]))
            for tool in answer["tools"]
        )
        show([Table("Tools", ("name", "description"), rows, empty="hidden by the host's recallMode")])
    return Exit.DONE


@tools.command("call")
@click.argument("name")
@click.argument("arguments", default="{}", metavar="JSON")
@host_option
@click.option("--session", metavar="S", help="The session that it is about.")
@json_option
@socket_option
def call_tool(name: str, arguments: str, host: str | None, session: str | None, as_json: bool) -> int:
    """Call a tool with a JSON object, and print what the model would read."""
    with open_client() as client:
        answer = client.tool(name, _object(arguments), host=host, session=session)
    if as_json:
        show_json(answer)
    else:
        for line in str(answer["text"]).split("\n"):
            print(printable(line))
    return Exit.DONE


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"JSON: not JSON ({error})") from error
    if not isinstance(value, dict):
        raise click.UsageError("JSON: not a JSON object")
    return value

"""``honchod mcp``: the memory tools for an MCP client, over stdin and stdout."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from honchod.cli.exits import Exit
from honchod.cli.options import named_socket, socket_option
from honchod.cli.tools import FAMILIES
from honchod.client.aio import AsyncClient


@click.command(epilog="Example: claude mcp add honchod -- honchod mcp --host claude_code")
@click.option("--host", default="default", metavar="H", show_default=True, help="The host block; it stays.")
@click.option(
    "--session",
    metavar="S",
    help="The session it writes to (default: one of its own, named after host and directory).",
)
@click.option(
    "--family",
    type=click.Choice(FAMILIES),
    default=FAMILIES[0],
    show_default=True,
    help="Under whose names the tools go.",
)
@socket_option
def mcp(host: str, session: str | None, family: str) -> int:
    """Serve the memory tools to an MCP client, over stdin and stdout.

    One host a process. A client reads what the whole workspace remembers and writes to its own session only.
    """
    try:
        from honchod.cli.mcp_server import Origin, serve
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"{error.name} is not installed: pip install 'honchod[mcp]' brings it"
        ) from None
    own = session or f"{host}-{Path.cwd().name or 'root'}"

    async def run() -> None:
        async with AsyncClient(named_socket()) as client:
            await serve(client, Origin(host, own, family))

    asyncio.run(run())
    return Exit.DONE

"""``honchod run``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from honchod.cli.options import config_option, named_socket, socket_option, state_dir_option

EPILOG = """\b
examples:
  honchod run
  honchod run --config ./honchod.toml --state-dir ./state --socket ./honchod.sock

Flags beat HONCHOD_CONFIG, HONCHOD_SOCKET and HONCHOD_STATE_DIR, which beat the file.
"""


@click.command(epilog=EPILOG)
@config_option
@socket_option
@state_dir_option
@click.option("--log-format", type=click.Choice(["auto", "json", "console"]), help="How log lines look.")
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="The least that is logged."
)
def run(
    config: Path | None,
    state_dir: Path | None,
    log_format: Literal["auto", "json", "console"] | None,
    log_level: Literal["debug", "info", "warning", "error"] | None,
) -> int:
    """Run the daemon in the foreground, until SIGTERM or SIGINT."""
    from honchod.service.main import run as run_daemon

    socket = named_socket()
    return run_daemon(config, Path(socket) if socket else None, state_dir, log_format, log_level)

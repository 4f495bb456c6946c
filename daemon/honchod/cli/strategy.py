"""``honchod strategy``: how a host's sessions and scopes get their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from honchod.cli.hosts_file import file_option, host_option
from honchod.cli.manage import given, manage, one_of
from honchod.cli.options import json_option, socket_option
from honchod.identity.choices import ScopeStrategy, SessionStrategy
from honchod.identity.host import Host

EPILOG = """\b
examples:
  honchod strategy --host hermes
  honchod strategy per-repo --host hermes --peer-prefix
  honchod strategy --host agent-zero --scope project

\b
per-directory  a session for each working directory
per-repo       a session for each git repository
per-session    a session for each run
global         one session for all
"""


@click.command(epilog=EPILOG)
@click.argument("sessions", metavar="[STRATEGY]", required=False, type=one_of(SessionStrategy))
@click.option("--peer-prefix/--no-peer-prefix", default=None, help="The user's name before the session's.")
@click.option("--scope", type=one_of(ScopeStrategy), help="How a session gets its scope.")
@click.option("--scope-name", metavar="NAME", help="The scope of the strategy custom.")
@click.option("--scope-prefix", metavar="TEXT", help="What every scope begins with.")
@host_option
@file_option
@json_option
@socket_option
def strategy(
    sessions: str | None,
    peer_prefix: bool | None,
    scope: str | None,
    scope_name: str | None,
    scope_prefix: str | None,
    host_name: str,
    named_file: Path | None,
    as_json: bool,
) -> None:
    """Show or set how sessions (STRATEGY) and scopes get their names. Sessions that are there stay."""
    changes = given(
        sessionStrategy=sessions,
        sessionPeerPrefix=peer_prefix,
        scopeStrategy=scope,
        scopeCustom=scope_name,
        scopePrefix=scope_prefix,
    )
    manage(host_name, named_file, changes, _view, as_json=as_json)


def _view(host: Host) -> dict[str, Any]:
    return {
        "sessions": host.sessions.strategy.value,
        "peer_prefix": host.sessions.peer_prefix,
        "scope": host.scopes.strategy.value,
        "scope_name": host.scopes.custom or None,
        "scope_prefix": host.scopes.prefix,
    }

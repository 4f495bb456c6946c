"""The effective identity of a host: where its messages go, under which names, in which modes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from honchod.identity.host import Host
from honchod.identity.modes import captures


@dataclass(frozen=True, slots=True)
class Identity:
    """One host as it is shown: every value settled, the key only by where it came from."""

    host: str
    enabled: bool
    captures: bool
    url: str
    workspace: str
    user_peer: str | None
    ai_peer: str
    user_mode: str
    agent_mode: str
    recall_mode: str
    writes: str
    sessions: str
    scopes: str
    key_source: str
    mcp_url: str | None


def identities(hosts: Mapping[str, Host]) -> list[Identity]:
    """Every configured host, by name."""
    return [_identity(hosts[name]) for name in sorted(hosts)]


def _identity(host: Host) -> Identity:
    frequency = host.modes.write_frequency
    return Identity(
        host=host.name,
        enabled=host.enabled,
        captures=captures(host),
        url=host.destination.url,
        workspace=host.workspace,
        user_peer=host.peers.user,
        ai_peer=host.peers.ai,
        user_mode=host.modes.user.value,
        agent_mode=host.modes.agent.value,
        recall_mode=host.recall.mode.value,
        writes=f"every {frequency} turns" if isinstance(frequency, int) else frequency.value,
        sessions=host.sessions.strategy.value,
        scopes=host.scopes.strategy.value,
        key_source=host.key_source.value,
        mcp_url=None if host.mcp is None else host.mcp.url,
    )

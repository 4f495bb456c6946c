"""What a host is: one agent runtime profile, with everything that its configuration settled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from honchod.errors import UnknownHost
from honchod.identity.choices import (
    Author,
    DialecticMode,
    InjectionFrequency,
    KeySource,
    MemoryMode,
    ReasoningLevel,
    RecallMode,
    ScopeStrategy,
    Section,
    SessionStrategy,
    WriteMoment,
)
from honchod.identity.secret import Secret

DEFAULT_HOST: Final = "default"
"""The host of a request that names none: the block of that name, else the root of the file."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where requests go and with which key (None: no Authorization header). Equal ones share a circuit."""

    url: str
    key: Secret | None


@dataclass(frozen=True, slots=True)
class PeerFlags:
    """What Honcho learns from a peer of a session: from its own messages, and from those of others."""

    observe_me: bool
    observe_others: bool


@dataclass(frozen=True, slots=True)
class Observation:
    """The flags of both peers."""

    user: PeerFlags
    ai: PeerFlags


@dataclass(frozen=True, slots=True)
class Peers:
    """Who is who. ``user`` is None where no ``peerName`` is configured; every id is valid already."""

    user: str | None
    ai: str
    observation: Observation
    pin_user: bool
    aliases: Mapping[str, str]
    """Runtime id of a platform to peer id."""
    runtime_prefix: str
    authors: Mapping[Author, str]
    """Authors other than people and the assistant, to peers of their own."""

    @property
    def people(self) -> frozenset[str]:
        """The peers that are known to be people: the user's own, and those of the aliases."""
        own = () if self.user is None else (self.user,)
        return frozenset((*own, *self.aliases.values()))


@dataclass(frozen=True, slots=True)
class Modes:
    """What of a conversation is captured, and when it is due."""

    user: MemoryMode
    agent: MemoryMode
    save_messages: bool
    write_frequency: WriteMoment | int
    """A number N means: with every Nth turn."""
    message_max_chars: int


@dataclass(frozen=True, slots=True)
class Sessions:
    """How a session gets its name. ``names`` maps absolute directories to session names."""

    strategy: SessionStrategy
    peer_prefix: bool
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Scopes:
    """How a session gets its scope. ``custom`` is empty unless the strategy is ``custom``."""

    strategy: ScopeStrategy
    prefix: str
    custom: str


@dataclass(frozen=True, slots=True)
class Recall:
    """What is recalled. ``context_tokens`` None: no bound. Cadences count turns."""

    mode: RecallMode
    context_tokens: int | None
    sections: frozenset[Section]
    injection_frequency: InjectionFrequency
    context_cadence: int


@dataclass(frozen=True, slots=True)
class Dialectic:
    """How Honcho is asked to reason. ``depth_levels`` is empty where the levels follow from ``level``."""

    mode: DialecticMode
    cadence: int
    depth: int
    depth_levels: tuple[ReasoningLevel, ...]
    level: ReasoningLevel
    level_cap: ReasoningLevel
    dynamic: bool
    """Whether the model may ask for another level."""
    max_input_chars: int


@dataclass(frozen=True, slots=True)
class Host:
    """One agent runtime profile. Every id in it is a valid Honcho id, every URL is in its one form."""

    name: str
    enabled: bool
    destination: Destination
    key_source: KeySource
    mcp: Destination | None
    """The MCP server to probe; None where a self-hosted host names none. It has the host's key only where it
    was configured for the same base URL."""
    workspace: str
    peers: Peers
    modes: Modes
    sessions: Sessions
    scopes: Scopes
    recall: Recall
    dialectic: Dialectic


def canonical_name(name: str) -> str:
    """The one name of a host: ``hermes.coder`` and ``hermes_coder`` are the same."""
    return name.replace(".", "_")


class Hosts(Mapping[str, Host]):
    """Every configured host by its canonical name; ``default`` is always there.

    ``warnings`` are things the operator should know and that stop nothing, such as a key that was not used.
    They name no secret.
    """

    def __init__(self, hosts: Mapping[str, Host], warnings: tuple[str, ...] = ()) -> None:
        self._hosts = dict(hosts)
        self.warnings = warnings

    def named(self, name: str | None) -> Host:
        """The host of that name (None: ``default``). Raises UnknownHost, which lists the configured ones."""
        found = self._hosts.get(canonical_name(name or DEFAULT_HOST))
        if found is None:
            configured = ", ".join(sorted(self._hosts))
            # Not named: what stands there may be anything, a secret too.
            raise UnknownHost(f"the host is not configured; configured are: {configured}")
        return found

    def __getitem__(self, name: str) -> Host:
        return self._hosts[canonical_name(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._hosts)

    def __len__(self) -> int:
        return len(self._hosts)

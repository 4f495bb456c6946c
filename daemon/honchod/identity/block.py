"""The keys of the Honcho config file: their names, types and ranges.

The root of the file and each ``hosts.<name>`` block take the same keys, and so does the environment, under
names of its own. A key that is absent or null is None here; defaults are applied once all levels are known.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

import msgspec

from honchod.identity.choices import (
    Author,
    DialecticMode,
    InjectionFrequency,
    MemoryMode,
    ObservationPreset,
    ReasoningLevel,
    RecallMode,
    ScopeStrategy,
    Section,
    SessionStrategy,
    WriteMoment,
)
from honchod.identity.fields import SECRET

Name = Annotated[str, msgspec.Meta(max_length=512)]
"""A name that becomes an id."""
Key = Annotated[str, msgspec.Meta(max_length=8192, extra=SECRET)]
Url = Annotated[str, msgspec.Meta(max_length=2048, extra=SECRET)]
"""Not quoted in a problem: it may hold a credential."""
FilePath = Annotated[str, msgspec.Meta(max_length=4096)]
Cadence = Annotated[int, msgspec.Meta(ge=1, le=1000)]


class FlagsBlock(msgspec.Struct, frozen=True, rename="camel"):
    """One peer of ``observation``."""

    observe_me: bool | None = None
    observe_others: bool | None = None


class ObservationBlock(msgspec.Struct, frozen=True, rename="camel"):
    """``observation`` as a table; a flag that is absent follows ``observationMode``."""

    user: FlagsBlock | None = None
    ai: FlagsBlock | None = None


class EndpointBlock(msgspec.Struct, frozen=True, rename="camel"):
    """``endpoint``, as the Claude Code plugin writes it: a URL, or ``local`` for the usual local one."""

    base_url: Url | None = None
    environment: str | None = None


class BaseSection(StrEnum):
    """A base section by the name that Hermes gives it."""

    SUMMARY = "summary"
    PEER_REPRESENTATION = "peerRepresentation"
    PEER_CARD = "peerCard"
    AI_REPRESENTATION = "aiRepresentation"
    AI_CARD = "aiCard"


class InjectionBlock(msgspec.Struct, frozen=True):
    """``injection``: a section set to false is left out; ``sessionStart``, where given, lists the base
    sections that stay.
    """

    summary: bool = True
    user_representation: bool = True
    user_card: bool = True
    ai_representation: bool = True
    ai_card: bool = True
    dialectic: bool = True
    session_start: list[BaseSection] | None = msgspec.field(default=None, name="sessionStart")


class Block(msgspec.Struct, frozen=True, rename="camel"):
    """One level of the configuration: a host's block, the environment, or the root of the file."""

    enabled: bool | None = None
    api_key: Key | None = None
    api_key_file: FilePath | None = None
    base_url: Url | None = None
    endpoint: EndpointBlock | Url | None = None
    mcp_url: Url | None = None
    workspace: Name | None = None
    peer_name: Name | None = None
    ai_peer: Name | None = None
    observation: ObservationBlock | ObservationPreset | None = None
    observation_mode: ObservationPreset | None = None
    pin_user_peer: bool | None = None
    user_peer_aliases: dict[str, Name] | None = None
    runtime_peer_prefix: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    author_peers: dict[Author, Name] | None = None
    memory_mode: MemoryMode | None = None
    user_memory_mode: MemoryMode | None = None
    agent_memory_mode: MemoryMode | None = None
    save_messages: bool | None = None
    write_frequency: WriteMoment | Annotated[int, msgspec.Meta(ge=1, le=1000)] | None = None
    message_max_chars: Annotated[int, msgspec.Meta(ge=50, le=25_000)] | None = None
    session_strategy: SessionStrategy | None = None
    session_peer_prefix: bool | None = None
    sessions: dict[str, Name] | None = None
    scope_strategy: ScopeStrategy | None = None
    scope_prefix: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    scope_custom: Name | None = None
    recall_mode: RecallMode | None = None
    context_tokens: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    injection: InjectionBlock | list[Section] | None = None
    injection_frequency: InjectionFrequency | None = None
    context_cadence: Cadence | None = None
    dialectic: DialecticMode | None = None
    dialectic_cadence: Cadence | None = None
    dialectic_depth: Annotated[int, msgspec.Meta(ge=1, le=3)] | None = None
    dialectic_depth_levels: (
        Annotated[list[ReasoningLevel], msgspec.Meta(min_length=1, max_length=3)] | None
    ) = None
    dialectic_reasoning_level: ReasoningLevel | None = None
    reasoning_level_cap: ReasoningLevel | None = None
    dialectic_dynamic: bool | None = None
    dialectic_max_input_chars: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None


SPELLINGS: Final = {
    "api_key_file": ("api_key_file",),
    "base_url": ("base_url", "apiUrl"),
    "workspace": ("workspaceId",),
    "pin_user_peer": ("pinPeerName",),
}
"""Other names of a key that are in use; where a table has several, the first one counts."""

"""The Honcho config file, the environment and the defaults, as hosts.

For one host: its block > environment > root of the file > default. A table (``sessions``,
``userPeerAliases``) counts as a whole: a host's own replaces the root's. A setting that has a short form and
a long one (``memoryMode`` and ``userMemoryMode``, ``observationMode`` and ``observation``) is settled level
by level: what a host says in short beats what the root says at length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from honchod.errors import ConfigError
from honchod.identity import environment, fields
from honchod.identity.block import SPELLINGS, BaseSection, Block, FlagsBlock, InjectionBlock, ObservationBlock
from honchod.identity.choices import (
    Author,
    DialecticMode,
    InjectionFrequency,
    KeySource,
    MemoryMode,
    ObservationPreset,
    ReasoningLevel,
    RecallMode,
    ScopeStrategy,
    Section,
    SessionStrategy,
    WriteMoment,
)
from honchod.identity.destinations import Address, AddressKeys, KeyReader, check_key, read_address, settle
from honchod.identity.host import (
    DEFAULT_HOST,
    Dialectic,
    Host,
    Hosts,
    Modes,
    Observation,
    PeerFlags,
    Peers,
    Recall,
    Scopes,
    Sessions,
    canonical_name,
)
from honchod.identity.names import clean
from honchod.identity.secret import Secret
from honchod.identity.sessions import normal_directory

MESSAGE_MAX_CHARS: Final = 25_000
"""Honcho's own bound on the content of a message, in code points."""

_WRITE_FREQUENCY: Final[WriteMoment | int] = WriteMoment.ASYNC
_SCOPE_PREFIX: Final = "a0-"
_DIALECTIC_CADENCE: Final = 2
_DIALECTIC_INPUT_CHARS: Final = 10_000

_PRESETS: Final = {
    ObservationPreset.DIRECTIONAL: Observation(user=PeerFlags(True, True), ai=PeerFlags(True, True)),
    ObservationPreset.UNIFIED: Observation(user=PeerFlags(True, False), ai=PeerFlags(False, True)),
    ObservationPreset.AGENT_ZERO: Observation(user=PeerFlags(True, True), ai=PeerFlags(False, True)),
}

_BASE_SECTIONS: Final = {
    BaseSection.SUMMARY: Section.SUMMARY,
    BaseSection.PEER_REPRESENTATION: Section.USER_REPRESENTATION,
    BaseSection.PEER_CARD: Section.USER_CARD,
    BaseSection.AI_REPRESENTATION: Section.AI_REPRESENTATION,
    BaseSection.AI_CARD: Section.AI_CARD,
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of the configuration: what it sets, and its way to Honcho."""

    block: Block
    address: Address


@dataclass(frozen=True, slots=True)
class _Levels:
    """The levels of one host, the strongest first."""

    host: _Level
    environment: _Level
    root: _Level

    def __iter__(self) -> Iterator[Block]:
        return iter((self.host.block, self.environment.block, self.root.block))

    def first(self, read: Callable[[Block], T | None], default: T) -> T:
        """What the strongest level says that says anything."""
        return next((value for block in self if (value := read(block)) is not None), default)

    def text(self, read: Callable[[Block], str | None], default: str = "") -> str:
        """As ``first``, for a name: an empty one says nothing."""
        return self.first(lambda block: read(block) or None, default)


def parse(
    document: object, environ: Mapping[str, str], *, read_key: KeyReader, credential: str | None = None
) -> Hosts:
    """Every host of the decoded config file, and ``default``.

    ``document`` is the JSON as decoded (an empty table when there is no file), ``credential`` the content of
    the systemd credential. Unknown keys are ignored. Raises ConfigError with every fault at once.
    """
    problems: list[str] = []
    root = _read_level(document, "", KeySource.ROOT, read_key, problems)
    env = _level(
        environment.read(environ, problems),
        environment.address_keys(environ),
        KeySource.ENVIRONMENT,
        read_key,
        problems,
    )
    daemon_key = _credential(credential, problems)
    own = {
        name: _read_level(raw, f"hosts.{name}.", KeySource.HOST, read_key, problems)
        for name, raw in _host_tables(document, problems).items()
    }
    own.setdefault(DEFAULT_HOST, _Level(Block(), Address()))
    spelled: dict[str, str] = {}
    for written in own:
        first = spelled.setdefault(canonical_name(written), written)
        if first != written:
            problems.append(f"hosts.{written}: the same host as hosts.{first}; keep one of them")
    warnings: list[str] = []
    hosts = {
        name: _host(name, _Levels(own[written], env, root), daemon_key, problems, warnings)
        for name, written in spelled.items()
    }
    if problems:
        raise ConfigError(problems)
    return Hosts(hosts, tuple(warnings))


def _host_tables(document: object, problems: list[str]) -> Mapping[str, object]:
    tables = document.get("hosts") if isinstance(document, Mapping) else None
    if tables is None:
        return {}
    if not isinstance(tables, Mapping):
        problems.append("hosts: expected a table of host blocks")
        return {}
    return tables


def _read_level(
    raw: object, where: str, inline: KeySource, read_key: KeyReader, problems: list[str]
) -> _Level:
    block = fields.read(Block, raw, where=where, problems=problems, forbid_unknown=False, spellings=SPELLINGS)
    return _level(block, AddressKeys().under(where), inline, read_key, problems)


def _level(
    block: Block, keys: AddressKeys, inline: KeySource, read_key: KeyReader, problems: list[str]
) -> _Level:
    return _Level(block, read_address(block, keys=keys, inline=inline, read_key=read_key, problems=problems))


def _credential(text: str | None, problems: list[str]) -> Secret | None:
    if text is None:
        return None
    try:
        return Secret(check_key(text))
    except ValueError as fault:
        problems.append(f"credential honcho_api_key: {fault}")
        return None


def _host(
    name: str, levels: _Levels, credential: Secret | None, problems: list[str], warnings: list[str]
) -> Host:
    way = settle(levels.host.address, levels.environment.address, levels.root.address, credential)
    warnings.extend(f"host {name}: {withheld}" for withheld in way.withheld)
    host = Host(
        name=name,
        enabled=levels.first(lambda block: block.enabled, True),
        destination=way.destination,
        key_source=way.key_source,
        mcp=way.mcp,
        workspace=clean(levels.text(lambda block: block.workspace, name)),
        peers=_peers(name, levels),
        modes=_modes(levels),
        sessions=Sessions(
            strategy=levels.first(lambda block: block.session_strategy, SessionStrategy.PER_DIRECTORY),
            peer_prefix=levels.first(lambda block: block.session_peer_prefix, False),
            names=_session_names(levels),
        ),
        scopes=Scopes(
            strategy=levels.first(lambda block: block.scope_strategy, ScopeStrategy.OFF),
            prefix=levels.first(lambda block: block.scope_prefix, _SCOPE_PREFIX),
            custom=levels.text(lambda block: block.scope_custom),
        ),
        recall=_recall(levels),
        dialectic=_dialectic(levels),
    )
    problems.extend(f"host {name}: {fault}" for fault in _contradictions(host))
    return host


def _contradictions(host: Host) -> Iterator[str]:
    """What is wrong although each key for itself is right."""
    people = host.peers.people
    if host.peers.ai in people:
        yield f"aiPeer {host.peers.ai}: the user's peer too; expected a peer of its own"
    for author, peer in host.peers.authors.items():
        if author in (Author.HUMAN, Author.ASSISTANT):
            yield f"authorPeers.{author} = {peer}: expected another author; this one has its peer by role"
        elif peer in people:
            yield f"authorPeers.{author} = {peer}: a person's peer; expected a peer of its own"
    if host.scopes.strategy is ScopeStrategy.CUSTOM and not host.scopes.custom:
        yield "scopeCustom: expected a name, as scopeStrategy is custom"


def _peers(name: str, levels: _Levels) -> Peers:
    user = levels.text(lambda block: block.peer_name)
    aliases: Mapping[str, str] = levels.first(lambda block: block.user_peer_aliases, {})
    authors: Mapping[Author, str] = levels.first(lambda block: block.author_peers, {})
    return Peers(
        user=clean(user) if user else None,
        ai=clean(levels.text(lambda block: block.ai_peer, name)),
        observation=levels.first(_observation, _PRESETS[ObservationPreset.DIRECTIONAL]),
        pin_user=levels.first(lambda block: block.pin_user_peer, False),
        aliases={runtime_id: clean(peer) for runtime_id, peer in aliases.items() if peer},
        runtime_prefix=levels.first(lambda block: block.runtime_peer_prefix, ""),
        authors={author: clean(peer) for author, peer in authors.items() if peer},
    )


def _session_names(levels: _Levels) -> Mapping[str, str]:
    said: Mapping[str, str] = levels.first(lambda block: block.sessions, {})
    return {normal_directory(directory): name for directory, name in said.items() if name}


def _observation(block: Block) -> Observation | None:
    """What one level says of observation: its table over its preset."""
    if block.observation is None and block.observation_mode is None:
        return None
    if isinstance(block.observation, ObservationPreset):
        return _PRESETS[block.observation]
    preset = _PRESETS[block.observation_mode or ObservationPreset.DIRECTIONAL]
    table = block.observation or ObservationBlock()
    return Observation(user=_flags(table.user, preset.user), ai=_flags(table.ai, preset.ai))


def _flags(said: FlagsBlock | None, preset: PeerFlags) -> PeerFlags:
    if said is None:
        return preset
    return PeerFlags(
        observe_me=preset.observe_me if said.observe_me is None else said.observe_me,
        observe_others=preset.observe_others if said.observe_others is None else said.observe_others,
    )


def _modes(levels: _Levels) -> Modes:
    return Modes(
        user=levels.first(lambda block: block.user_memory_mode or block.memory_mode, MemoryMode.HYBRID),
        agent=levels.first(lambda block: block.agent_memory_mode or block.memory_mode, MemoryMode.HYBRID),
        save_messages=levels.first(lambda block: block.save_messages, True),
        write_frequency=levels.first(lambda block: block.write_frequency, _WRITE_FREQUENCY),
        message_max_chars=levels.first(lambda block: block.message_max_chars, MESSAGE_MAX_CHARS),
    )


def _recall(levels: _Levels) -> Recall:
    return Recall(
        mode=levels.first(lambda block: block.recall_mode, RecallMode.HYBRID),
        context_tokens=levels.first(lambda block: block.context_tokens, None),
        sections=levels.first(_sections, frozenset(Section)),
        injection_frequency=levels.first(
            lambda block: block.injection_frequency, InjectionFrequency.EVERY_TURN
        ),
        context_cadence=levels.first(lambda block: block.context_cadence, 1),
    )


def _sections(block: Block) -> frozenset[Section] | None:
    """The sections that one level lets in."""
    said = block.injection
    if said is None:
        return None
    if not isinstance(said, InjectionBlock):
        return frozenset(said)
    kept = {section for section in Section if getattr(said, section.value)}
    if said.session_start is not None:
        kept &= {Section.DIALECTIC, *(_BASE_SECTIONS[section] for section in said.session_start)}
    return frozenset(kept)


def _dialectic(levels: _Levels) -> Dialectic:
    return Dialectic(
        mode=levels.first(lambda block: block.dialectic, DialecticMode.AUTO),
        cadence=levels.first(lambda block: block.dialectic_cadence, _DIALECTIC_CADENCE),
        depth=levels.first(lambda block: block.dialectic_depth, 1),
        depth_levels=tuple(levels.first(lambda block: block.dialectic_depth_levels, [])),
        level=levels.first(lambda block: block.dialectic_reasoning_level, ReasoningLevel.LOW),
        level_cap=levels.first(lambda block: block.reasoning_level_cap, ReasoningLevel.HIGH),
        dynamic=levels.first(lambda block: block.dialectic_dynamic, True),
        max_input_chars=levels.first(lambda block: block.dialectic_max_input_chars, _DIALECTIC_INPUT_CHARS),
    )

from __future__ import annotations

from typing import Any

import pytest
from identity_hosts import host_with, parse, problems_of

from honchod.errors import UnknownHost
from honchod.identity.choices import Author, Section
from honchod.identity.host import Observation, PeerFlags
from honchod.identity.names import clean


def value(host: object, path: str) -> Any:
    for name in path.split("."):
        host = getattr(host, name)
    return host


SETTINGS = [
    ("enabled", "enabled", False, False),
    ("workspace", "workspace", "shared", "shared"),
    ("workspaceId", "workspace", "sh.ared", clean("sh.ared")),
    ("peerName", "peers.user", "alice", "alice"),
    ("aiPeer", "peers.ai", "coder", "coder"),
    ("pinUserPeer", "peers.pin_user", True, True),
    ("pinPeerName", "peers.pin_user", True, True),
    ("userPeerAliases", "peers.aliases", {"1": "a b", "2": ""}, {"1": clean("a b")}),
    ("runtimePeerPrefix", "peers.runtime_prefix", "tg_", "tg_"),
    ("authorPeers", "peers.authors", {"cron": "c"}, {Author.CRON: "c"}),
    ("memoryMode", "modes.user", "local", "local"),
    ("memoryMode", "modes.agent", "local", "local"),
    ("userMemoryMode", "modes.user", "honcho", "honcho"),
    ("agentMemoryMode", "modes.agent", "honcho", "honcho"),
    ("saveMessages", "modes.save_messages", False, False),
    ("writeFrequency", "modes.write_frequency", "turn", "turn"),
    ("writeFrequency", "modes.write_frequency", 3, 3),
    ("messageMaxChars", "modes.message_max_chars", 1000, 1000),
    ("sessionStrategy", "sessions.strategy", "global", "global"),
    ("sessionPeerPrefix", "sessions.peer_prefix", True, True),
    ("sessions", "sessions.names", {"/a//b/": "s", "/c": ""}, {"/a/b": "s"}),
    ("scopeStrategy", "scopes.strategy", "project", "project"),
    ("scopePrefix", "scopes.prefix", "", ""),
    ("scopeCustom", "scopes.custom", "c", "c"),
    ("recallMode", "recall.mode", "tools", "tools"),
    ("contextTokens", "recall.context_tokens", 500, 500),
    ("injectionFrequency", "recall.injection_frequency", "first-turn", "first-turn"),
    ("contextCadence", "recall.context_cadence", 4, 4),
    ("dialectic", "dialectic.mode", "deliberate", "deliberate"),
    ("dialecticCadence", "dialectic.cadence", 5, 5),
    ("dialecticDepth", "dialectic.depth", 3, 3),
    ("dialecticDepthLevels", "dialectic.depth_levels", ["low", "max"], ("low", "max")),
    ("dialecticReasoningLevel", "dialectic.level", "max", "max"),
    ("reasoningLevelCap", "dialectic.level_cap", "low", "low"),
    ("dialecticDynamic", "dialectic.dynamic", False, False),
    ("dialecticMaxInputChars", "dialectic.max_input_chars", 99, 99),
]


@pytest.mark.parametrize(("key", "path", "written", "read"), SETTINGS)
def test_each_key_is_read_from_the_block_and_from_the_root(
    key: str, path: str, written: Any, read: Any
) -> None:
    default = value(host_with(), path)
    assert default != read
    assert value(host_with(**{key: written}), path) == read
    assert value(parse({key: written, "hosts": {"h": {}}})["h"], path) == read
    assert value(parse({key: written})["default"], path) == read
    assert value(host_with(**{key: None}), path) == default


@pytest.mark.parametrize(
    ("name", "text", "key", "path", "read"),
    [
        ("HONCHO_WORKSPACE_ID", "w", "workspace", "workspace", "w"),
        ("HONCHO_USER_ID", "u", "peerName", "peers.user", "u"),
        ("HONCHO_AGENT_PEER_ID", "a", "aiPeer", "peers.ai", "a"),
        ("HONCHO_MAX_CONTEXT_TOKENS", "77", "contextTokens", "recall.context_tokens", 77),
        ("HONCHO_SCOPE_STRATEGY", "project", "scopeStrategy", "scopes.strategy", "project"),
        ("HONCHO_SCOPE_PREFIX", "s", "scopePrefix", "scopes.prefix", "s"),
        ("HONCHO_SCOPE_CUSTOM", "c", "scopeCustom", "scopes.custom", "c"),
    ],
)
def test_the_block_beats_the_environment_which_beats_the_root(
    name: str, text: str, key: str, path: str, read: Any
) -> None:
    other: Any = {"contextTokens": 5, "scopeStrategy": "off"}.get(key, "other")
    environ = {name: text}
    assert value(parse({key: other, "hosts": {"h": {}}}, environ)["h"], path) == read
    assert value(parse({"hosts": {"h": {key: other}}}, environ)["h"], path) == other
    assert value(parse({key: other}, {name: ""})["default"], path) == other


def test_the_defaults_are_those_of_the_ecosystem() -> None:
    host = host_with()
    assert (host.workspace, host.peers.user, host.peers.ai) == ("h", None, "h")
    assert (host.modes.write_frequency, host.modes.message_max_chars) == ("async", 25_000)
    assert (host.recall.mode, host.recall.context_tokens, host.recall.context_cadence) == ("hybrid", None, 1)
    assert host.recall.sections == frozenset(Section)
    assert (host.dialectic.mode, host.dialectic.cadence, host.dialectic.depth) == ("auto", 2, 1)
    assert (host.dialectic.level, host.dialectic.level_cap, host.dialectic.dynamic) == ("low", "high", True)
    assert host.dialectic.max_input_chars == 10_000
    assert (host.sessions.strategy, host.sessions.peer_prefix) == ("per-directory", False)
    assert (host.scopes.strategy, host.scopes.prefix) == ("off", "a0-")


def test_without_a_file_there_is_the_default_host() -> None:
    hosts = parse({})
    assert list(hosts) == ["default"]
    assert (hosts.named(None).workspace, hosts.named("default").peers.ai) == ("default", "default")


def test_default_is_the_block_of_that_name_else_the_root() -> None:
    document = {"workspace": "root", "hosts": {"h": {}}}
    assert parse(document).named(None).workspace == "root"
    document["hosts"] = {"default": {"workspace": "own"}}
    assert parse(document).named(None).workspace == "own"


def test_a_host_that_is_not_configured_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnknownHost, match="default, h, hermes_coder"):
        parse({"hosts": {"h": {}, "hermes.coder": {}}}).named("other")


@pytest.mark.parametrize("written", ["hermes.coder", "hermes_coder"])
@pytest.mark.parametrize("asked", ["hermes.coder", "hermes_coder"])
def test_a_profile_is_one_host_with_a_dot_or_without(written: str, asked: str) -> None:
    hosts = parse({"hosts": {written: {"aiPeer": "coder"}}})
    assert hosts.named(asked).peers.ai == "coder"
    assert hosts[asked].name == hosts[asked].workspace == "hermes_coder"
    assert set(hosts) == {"default", "hermes_coder"}
    assert len(hosts) == 2


def test_two_blocks_of_one_profile_are_a_mistake() -> None:
    (problem,) = problems_of({"hosts": {"hermes.coder": {}, "hermes_coder": {}}})
    assert "hosts.hermes_coder" in problem
    assert "hosts.hermes.coder" in problem


ON, OFF = True, False


@pytest.mark.parametrize(
    ("block", "root", "user", "ai"),
    [
        ({}, {}, (ON, ON), (ON, ON)),
        ({"observationMode": "directional"}, {}, (ON, ON), (ON, ON)),
        ({"observationMode": "unified"}, {}, (ON, OFF), (OFF, ON)),
        ({"observationMode": "agent-zero"}, {}, (ON, ON), (OFF, ON)),
        ({"observation": "unified"}, {}, (ON, OFF), (OFF, ON)),
        ({"observation": {"user": {"observeOthers": False}}}, {}, (ON, OFF), (ON, ON)),
        (
            {"observation": {"ai": {"observeMe": True}}, "observationMode": "unified"},
            {},
            (ON, OFF),
            (ON, ON),
        ),
        ({}, {"observationMode": "unified"}, (ON, OFF), (OFF, ON)),
        (
            {"observationMode": "unified"},
            {"observation": {"ai": {"observeMe": True, "observeOthers": False}}},
            (ON, OFF),
            (OFF, ON),
        ),
    ],
)
def test_observation_is_a_table_over_a_preset_level_by_level(
    block: dict[str, Any], root: dict[str, Any], user: tuple[bool, bool], ai: tuple[bool, bool]
) -> None:
    host = parse({**root, "hosts": {"h": block}})["h"]
    assert host.peers.observation == Observation(PeerFlags(*user), PeerFlags(*ai))


def test_a_hosts_short_mode_beats_a_long_one_of_the_root() -> None:
    host = parse({"userMemoryMode": "honcho", "hosts": {"h": {"memoryMode": "local"}}})["h"]
    assert (host.modes.user, host.modes.agent) == ("local", "local")


def test_a_hosts_table_replaces_the_roots_as_a_whole() -> None:
    document = {"userPeerAliases": {"1": "a"}, "hosts": {"h": {"userPeerAliases": {}}}}
    assert parse(document)["h"].peers.aliases == {}


BASE = frozenset(Section) - {Section.DIALECTIC}


@pytest.mark.parametrize(
    ("injection", "sections"),
    [
        ({}, frozenset(Section)),
        ({"summary": False, "dialectic": False}, BASE - {Section.SUMMARY}),
        (["user_card", "summary"], {Section.USER_CARD, Section.SUMMARY}),
        ([], frozenset()),
        ({"sessionStart": []}, {Section.DIALECTIC}),
        (
            {"sessionStart": ["peerRepresentation", "peerCard", "aiRepresentation", "aiCard"]},
            frozenset(Section) - {Section.SUMMARY},
        ),
        ({"sessionStart": ["summary"], "dialectic": False}, {Section.SUMMARY}),
    ],
)
def test_injection_leaves_sections_out(injection: object, sections: frozenset[Section]) -> None:
    assert host_with(injection=injection).recall.sections == sections


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("enabled", "yes"),
        ("saveMessages", 1),
        ("workspace", 5),
        ("workspace", "w" * 513),
        ("memoryMode", "cloud"),
        ("recallMode", "never"),
        ("writeFrequency", 0),
        ("writeFrequency", 1001),
        ("writeFrequency", "3"),
        ("messageMaxChars", 49),
        ("messageMaxChars", 25_001),
        ("contextTokens", 0),
        ("contextTokens", 100_001),
        ("contextTokens", 1.5),
        ("contextCadence", 0),
        ("dialecticCadence", 1001),
        ("dialecticDepth", 4),
        ("dialecticDepthLevels", []),
        ("dialecticDepthLevels", ["low"] * 4),
        ("dialecticReasoningLevel", "extreme"),
        ("dialecticMaxInputChars", 10_001),
        ("dialectic", True),
        ("sessions", {"/a": 5}),
        ("sessions", ["/a"]),
        ("userPeerAliases", "1=a"),
        ("authorPeers", {"nobody": "n"}),
        ("authorPeers", {"human": "n"}),
        ("authorPeers", {"assistant": "n"}),
        ("observation", "everything"),
        ("observation", {"user": {"observeMe": "no"}}),
        ("injection", ["weather"]),
        ("injection", {"sessionStart": ["weather"]}),
        ("sessionStrategy", "per-moon"),
        ("scopeStrategy", "world"),
        ("scopePrefix", "p" * 65),
    ],
)
def test_what_is_out_of_range_is_named_with_host_key_value_and_range(key: str, wrong: object) -> None:
    (problem,) = problems_of({"hosts": {"h": {key: wrong}}})
    assert key in problem
    assert "h" in problem
    assert ": expected " in problem


def test_everything_that_is_wrong_is_named_at_once() -> None:
    problems = problems_of(
        {
            "apiKey": ["s3cret"],
            "contextTokens": -1,
            "hosts": {
                "a": {"dialecticDepth": 9, "recallMode": "x"},
                "b": 5,
                "c": {"scopeStrategy": "custom"},
            },
        },
        {"HONCHO_MAX_CONTEXT_TOKENS": "many", "HONCHO_SCOPE_STRATEGY": "x"},
    )
    assert [problem.split(":")[0].split(" =")[0] for problem in problems] == [
        "apiKey",
        "contextTokens",
        "HONCHO_MAX_CONTEXT_TOKENS",
        "HONCHO_SCOPE_STRATEGY",
        "hosts.a.recallMode",
        "hosts.a.dialecticDepth",
        "hosts.b",
        "host c",
    ]
    assert not any("s3cret" in problem for problem in problems)


def test_a_peer_is_a_person_or_not() -> None:
    assert problems_of({"hosts": {"h": {"peerName": "h"}}})
    assert problems_of({"hosts": {"h": {"userPeerAliases": {"1": "h"}}}})
    assert problems_of({"hosts": {"h": {"peerName": "a", "authorPeers": {"cron": "a"}}}})
    assert not problems_of({"hosts": {"h": {"peerName": "a", "authorPeers": {"cron": "c", "tool": "c"}}}})


@pytest.mark.parametrize("document", [[], "x", None, 5, {"hosts": []}, {"hosts": {"h": None}}])
def test_a_file_of_another_shape_is_a_problem_and_no_crash(document: object) -> None:
    assert problems_of(document)


def test_unknown_keys_are_not_ours_to_judge() -> None:
    assert problems_of({"statusline": "on", "hosts": {"h": {"linkedHosts": ["x"], "oauth": {}}}}) == ()


def test_hosts_keep_to_their_own_workspace() -> None:
    """Case C32, as far as the configuration goes."""
    hosts = parse(
        {
            "hosts": {
                "a": {"workspace": "wa", "apiKey": "ka"},
                "b": {"workspace": "wb", "apiKey": "kb"},
            }
        }
    )
    ways = {
        (host.workspace, host.destination.key and host.destination.key.reveal()) for host in hosts.values()
    }
    assert ways == {("wa", "ka"), ("wb", "kb"), ("default", None)}
    assert hosts["a"].destination != hosts["b"].destination

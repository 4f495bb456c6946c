"""The effective identity: settled values, and never a key."""

from __future__ import annotations

from typing import Any

from honchod.identity import config
from honchod.web.identity import Identity, identities

KEY = "a-key-that-nobody-may-see"


def no_key_file(name: str) -> str:
    raise ValueError(f"no file {name}")


def shown(document: dict[str, Any]) -> dict[str, Identity]:
    hosts = config.parse(document, {}, read_key=no_key_file, credential=None)
    return {identity.host: identity for identity in identities(hosts)}


def test_every_host_is_shown_with_what_the_configuration_settled() -> None:
    seen = shown(
        {
            "apiKey": KEY,
            "peerName": "ann",
            "hosts": {"hermes": {"workspace": "w", "memoryMode": "honcho", "recallMode": "tools"}},
        }
    )
    assert list(seen) == ["default", "hermes"]
    hermes = seen["hermes"]
    assert (hermes.workspace, hermes.user_peer, hermes.ai_peer) == ("w", "ann", "hermes")
    assert (hermes.user_mode, hermes.agent_mode, hermes.recall_mode) == ("honcho", "honcho", "tools")
    assert hermes.url == "https://api.honcho.dev"
    assert hermes.key_source == "root"


def test_no_key_is_shown() -> None:
    assert KEY not in repr(shown({"apiKey": KEY, "hosts": {"h": {"apiKey": KEY + "2"}}}))


def test_a_host_that_keeps_nothing_says_so() -> None:
    seen = shown({"hosts": {"off": {"enabled": False}, "mute": {"saveMessages": False}}})
    assert (seen["off"].enabled, seen["off"].captures) == (False, False)
    assert (seen["mute"].enabled, seen["mute"].captures) == (True, False)


def test_a_write_frequency_in_turns_is_spelled_out() -> None:
    seen = shown({"hosts": {"h": {"writeFrequency": 3}, "g": {"writeFrequency": "session"}}})
    assert seen["h"].writes == "every 3 turns"
    assert seen["g"].writes == "session"

from __future__ import annotations

import pytest
from identity_hosts import host_with, parse

from honchod.identity import prompt


def test_the_block_says_who_the_agent_is_where_it_has_a_name_of_its_own() -> None:
    assert prompt.block(host_with(aiPeer="Bob"), None).startswith("You are Bob.\n\n# Honcho memory\n")
    assert prompt.block(host_with(), None).startswith("# Honcho memory\n")


@pytest.mark.parametrize(
    ("mode", "says"),
    [("hybrid", "find more"), ("context", "before each turn."), ("tools", "Use the honcho tools")],
)
def test_the_block_says_how_memory_is_recalled(mode: str, says: str) -> None:
    text = prompt.block(host_with(recallMode=mode), "chat-7")
    assert f"Active. Session: chat-7. Mode: {mode}." in text
    assert says in text


def test_the_block_says_that_capture_is_off() -> None:
    assert "Capture is off" in prompt.block(host_with(saveMessages=False), None)
    assert "Capture is off" not in prompt.block(host_with(), None)


def test_a_disabled_host_has_none() -> None:
    assert prompt.block(host_with(enabled=False), "s") == ""


def test_commands_name_the_host_where_it_matters() -> None:
    named = {command.usage for command in prompt.commands(host_with())}
    assert "honchod peer [--user NAME] [--ai NAME] --host h" in named
    assert "honchod status" in named
    default = {command.usage for command in prompt.commands(parse({})["default"])}
    assert "honchod peer [--user NAME] [--ai NAME]" in default


def test_every_command_is_listed_with_what_it_does() -> None:
    host = host_with()
    lines = prompt.block(host, None).splitlines()[-len(prompt.COMMANDS) :]
    for line, command in zip(lines, prompt.commands(host), strict=True):
        assert line.split("  ")[1:] == [command.usage, *line.split("  ")[2:]]
        assert line.endswith(command.meaning)

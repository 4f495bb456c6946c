"""Whether a host wants anything injected, and which sections."""

from __future__ import annotations

from typing import Any

import pytest
from recall_hosts import host_with

from honchod.identity.choices import Section
from honchod.recall.injection import AI_SECTIONS, USER_SECTIONS, OffReason, injection, injects

ALL = frozenset(Section)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({}, None),
        ({"recallMode": "context"}, None),
        ({"recallMode": "tools"}, OffReason.RECALL_MODE),
        ({"enabled": False}, OffReason.DISABLED),
        ({"memoryMode": "local"}, OffReason.MODE_LOCAL),
        ({"userMemoryMode": "local"}, None),
        ({"agentMemoryMode": "local"}, None),
        ({"saveMessages": False}, None),
        ({"enabled": False, "recallMode": "tools", "memoryMode": "local"}, OffReason.DISABLED),
    ],
)
def test_a_host_that_injects_nothing_says_why(keys: dict[str, Any], reason: OffReason | None) -> None:
    host = host_with(**keys)
    assert injects(host) is reason
    assert injection(host, None, turns=0).off is reason


def test_sections_are_those_of_the_host_that_the_request_wants() -> None:
    host = host_with(injection={"summary": False, "ai_card": False})
    assert injection(host, None, turns=5).sections == ALL - {Section.SUMMARY, Section.AI_CARD}
    assert injection(host, [Section.SUMMARY, Section.USER_CARD], turns=5).sections == {Section.USER_CARD}
    assert injection(host, [], turns=5).sections == frozenset()


def test_first_turn_only_leaves_the_dialectic_for_later_turns() -> None:
    host = host_with(injectionFrequency="first-turn")
    assert injection(host, None, turns=0).sections == ALL
    assert injection(host, None, turns=1).sections == {Section.DIALECTIC}
    assert injection(host, [Section.SUMMARY], turns=1).off is OffReason.FIRST_TURN


def test_every_section_is_of_the_user_the_ai_or_the_dialectic() -> None:
    assert USER_SECTIONS | AI_SECTIONS | {Section.DIALECTIC} == ALL
    assert not USER_SECTIONS & AI_SECTIONS

from __future__ import annotations

from typing import Any

import pytest
from identity_hosts import host_with

from honchod.identity.modes import (
    Held,
    LocalFiles,
    Side,
    SkipReason,
    captures,
    held,
    local_files,
    skip_reason,
)

OFF = SkipReason.CAPTURE_OFF
LOCAL = SkipReason.MODE_LOCAL


@pytest.mark.parametrize(
    ("keys", "user", "ai", "other"),
    [
        ({}, None, None, None),
        ({"memoryMode": "honcho"}, None, None, None),
        ({"memoryMode": "local"}, LOCAL, LOCAL, LOCAL),
        ({"userMemoryMode": "local"}, LOCAL, None, None),
        ({"agentMemoryMode": "local"}, None, LOCAL, None),
        ({"memoryMode": "local", "userMemoryMode": "honcho"}, None, LOCAL, None),
        ({"saveMessages": False}, OFF, OFF, OFF),
        ({"saveMessages": False, "memoryMode": "local"}, OFF, OFF, OFF),
        ({"enabled": False}, OFF, OFF, OFF),
    ],
)
def test_modes_skip_the_messages_of_their_own_side(
    keys: dict[str, Any], user: SkipReason | None, ai: SkipReason | None, other: SkipReason | None
) -> None:
    """Case C01 for ``saveMessages``."""
    host = host_with(**keys)
    assert [skip_reason(host, side) for side in Side] == [user, ai, other]
    assert captures(host) is (user is not OFF)


@pytest.mark.parametrize(
    ("keys", "user", "agent"),
    [
        ({}, True, True),
        ({"memoryMode": "honcho"}, False, False),
        ({"userMemoryMode": "honcho"}, False, True),
        ({"agentMemoryMode": "honcho"}, True, False),
        ({"memoryMode": "local"}, True, True),
        ({"memoryMode": "honcho", "saveMessages": False}, True, True),
        ({"memoryMode": "honcho", "enabled": False}, True, True),
    ],
)
def test_local_files_are_left_alone_only_where_honcho_keeps_the_memory(
    keys: dict[str, Any], user: bool, agent: bool
) -> None:
    assert local_files(host_with(**keys)) == LocalFiles(user, agent)


@pytest.mark.parametrize(
    ("frequency", "expected"),
    [("async", None), ("turn", Held(1)), ("session", Held(None)), (1, Held(1)), (3, Held(3))],
)
def test_the_write_frequency_says_what_messages_wait_for(frequency: str | int, expected: Held | None) -> None:
    assert held(host_with(writeFrequency=frequency)) == expected

"""Requests that come together begin together, and each is known by its own name while it is worked on."""

from __future__ import annotations

import contextlib

import pytest
import structlog
from running_door import RunningDoor

from honchod.api.phases import Phase
from support.raw_http import message_body, request_bytes

PEERS = 8


def test_what_came_in_one_round_is_read_before_any_of_it_begins(door: RunningDoor) -> None:
    """Else the first of them would wake the writer, which then wants the interpreter beside the reading."""
    connections = door.door._connections
    assert connections is not None
    at_work: list[int] = []
    door.backend.on_begin = lambda: at_work.append(
        sum(connection.phase is Phase.WORKING for connection in connections._open)
    )
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(door.peer()) for _ in range(PEERS)]
        for peer in peers:
            assert peer.request("GET", "/v1/health").status == 200
        with door.held():
            for number, peer in enumerate(peers):
                peer.send(request_bytes("POST", "/v1/messages", message_body(session=f"s{number}")))
        assert [peer.reply().status for peer in peers] == [202] * PEERS
    assert at_work == [PEERS] * PEERS


@pytest.mark.parametrize("messages", [1, 2])
def test_whatever_is_logged_of_a_request_carries_its_name(door: RunningDoor, messages: int) -> None:
    names: list[object] = []
    door.backend.on_begin = lambda: names.append(structlog.contextvars.get_contextvars())
    with door.peer() as peer:
        for name in ("one", "two"):
            reply = peer.request("POST", "/v1/messages", message_body(messages), {"X-Request-Id": name})
            assert reply.headers["x-request-id"] == name
    assert names == [{"request_id": "one"}, {"request_id": "two"}]

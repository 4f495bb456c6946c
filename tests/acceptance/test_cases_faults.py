"""Cases from the field that belong to faults (C03, C25, C26); C49 and C50 are in test_bounds.py."""

from __future__ import annotations

from typing import Any

import pytest

from honchod.client.errors import Unprocessable
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.raw_http import Peer


def test_a_question_whose_answer_never_comes_is_delivered_alone(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C03: the agent dies before it answers, and the daemon with it."""
    network.take_down()
    with daemon.start().client() as client:
        client.write([{"id": "q1", "role": "user", "content": "Where is my umbrella?"}], session="s")
    daemon.kill()
    network.heal()
    daemon.start().wait_for_delivery()
    (message,) = remote.messages(workspace, "s")
    assert (message["content"], message["peer_id"]) == ("Where is my umbrella?", "ann")


def test_a_lone_surrogate_becomes_a_replacement_character_and_the_queue_goes_on(
    daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    """C25: in content and in metadata, between two healthy messages."""
    body = (
        b'{"session": "s", "messages": [{"id": "m1", "content": "before"},'
        b' {"id": "m2", "content": "broken \\ud83d here", "metadata": {"k\\udc00": "\\ud800"}},'
        b' {"id": "m3", "content": "after"}]}'
    )
    daemon.start()
    with Peer(daemon.socket) as peer:
        assert peer.request("POST", "/v1/messages", body).status == 202
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == ["before", "broken \ufffd here", "after"]
    assert remote.messages(workspace, "s")[1]["metadata"]["k\ufffd"] == "\ufffd"
    assert daemon.status()["queue"]["dead"] == 0


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth > 1 else {"a": 1}


@pytest.mark.parametrize(
    ("metadata", "named"),
    [({f"k{number}": number for number in range(101)}, "101 keys"), (nested(6), "nested deeper than 5")],
)
def test_metadata_that_honcho_refuses_is_refused_at_the_door(
    daemon: DaemonProcess, network: Network, metadata: dict[str, Any], named: str
) -> None:
    """C26: and nothing of its request is stored."""
    with daemon.start().client() as client:
        with pytest.raises(Unprocessable, match=named) as refused:
            client.write(
                [{"id": "m1", "content": "fine"}, {"id": "m2", "content": "not", "metadata": metadata}],
                session="s",
            )
        assert (refused.value.status, refused.value.code) == (422, "unprocessable")
        status = client.status()
    assert (status["queue"]["pending"], status["queue"]["delivered"], status["lanes"]) == (0, 0, [])
    assert not network.sent()

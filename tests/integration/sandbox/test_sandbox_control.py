"""The control API, keys and the request log."""

from __future__ import annotations

import http.client
import threading

import pytest
from sandbox_client import MESSAGES, Client, contents, wait_until

from honchod.sandbox import SandboxHandle, running_sandbox


def test_faults_are_set_counted_and_unset_over_http(sandbox: SandboxHandle, client: Client) -> None:
    assert client.call("POST", "/sandbox/faults", {"spec": "POST messages: status=503"}).status == 204
    rule = {"session": "t", "commit": "now", "reply": "cut"}
    assert client.call("POST", "/sandbox/faults", {"rules": [rule]}).status == 204
    assert client.say("a").status == 503
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        client.call("PUT", "/v3/workspaces/w/sessions/t", {})
    standing = client.call("GET", "/sandbox/faults").value
    assert [one["fired"] for one in standing] == [1, 1]
    client.call("DELETE", "/sandbox/faults")
    assert client.say("a").status == 201
    assert [session.id for session in sandbox.sessions("w")] == ["t", "s"]


@pytest.mark.parametrize(
    "body", [{"spec": "nonsense"}, {"rules": [{"bogus": 1}]}, {"rules": [{"path": "("}]}]
)
def test_rules_that_cannot_be_read_are_a_400(client: Client, body: object) -> None:
    assert client.call("POST", "/sandbox/faults", body).status == 400


def test_state_is_shown_and_reset_over_http(sandbox: SandboxHandle, client: Client) -> None:
    client.say("one", "two")
    seen = client.call("GET", "/sandbox/messages?workspace=w&session=s").value
    assert [one["content"] for one in seen] == ["one", "two"]
    assert [one["id"] for one in client.call("GET", "/sandbox/sessions?workspace=w").value] == ["s"]
    assert len(client.call("GET", "/sandbox/conclusions?workspace=w").value) == 2
    requests = client.call("GET", "/sandbox/requests").value
    assert [(one["method"], one["status"], one["messages"]) for one in requests] == [("POST", 201, 2)]
    assert client.call("GET", f"/sandbox/requests?after={requests[0]['serial']}").value == []
    assert client.call("POST", "/sandbox/reset").status == 204
    assert contents(sandbox) == []
    assert sandbox.requests() == []


def test_down_over_http_closes_the_listener_for_a_while(client: Client) -> None:
    assert client.call("POST", "/sandbox/down", {"seconds": 0.5}).status == 204
    wait_until(lambda: not _is_up(client))
    wait_until(lambda: _is_up(client))


def test_without_a_key_or_with_a_wrong_one_it_is_401() -> None:
    with running_sandbox(api_key="right") as sandbox:
        for key, status in ((None, 401), ("wrong", 401), ("right", 201)):
            with Client(sandbox.url, key=key) as client:
                assert client.say("a").status == status
        assert contents(sandbox) == ["a"]
        with Client(sandbox.url) as client:
            assert client.call("GET", "/health").status == 200


def test_a_key_of_one_workspace_is_401_in_another() -> None:
    with running_sandbox(api_keys={"w-key": "w"}) as sandbox, Client(sandbox.url, key="w-key") as client:
        assert client.call("POST", "/v3/workspaces", {"id": "w"}).status == 201
        assert client.say("a").status == 201
        assert client.call("POST", "/v3/workspaces", {"id": "other"}).status == 401
        assert client.say("a", path=MESSAGES.replace("/w/", "/other/")).status == 401
        assert client.call("POST", "/v3/workspaces/list").status == 401


def test_the_log_tells_everything_but_secrets() -> None:
    with running_sandbox(api_key="top-secret") as sandbox:
        with Client(sandbox.url, key="top-secret") as client:
            client.say("a", "b")
        with Client(sandbox.url) as client:
            client.say("c")
        first, second = sandbox.requests()
    assert (first.workspace, first.session, first.messages, first.status) == ("w", "s", 2, 201)
    assert first.authorization
    assert first.committed
    assert first.headers["content-type"] == "application/json"
    assert first.answered_s is not None
    assert first.answered_s >= first.received_s
    assert (second.authorization, second.status, second.committed) == (False, 401, False)
    assert "top-secret" not in repr([first, second])


def test_the_log_counts_what_is_in_flight_of_a_session() -> None:
    with running_sandbox(faults="content=slow: delay=0.5") as sandbox:
        with Client(sandbox.url) as slow, Client(sandbox.url) as quick:
            waiting = threading.Thread(target=slow.say, args=("slow",))
            waiting.start()
            wait_until(lambda: len(sandbox.requests()) == 1)
            quick.say("quick")
            waiting.join(30.0)
            quick.say("alone")
        assert [one.in_flight for one in sandbox.requests()] == [1, 2, 1]
        assert contents(sandbox) == ["quick", "slow", "alone"]


def _is_up(client: Client) -> bool:
    try:
        return client.call("GET", "/health").status == 200
    except (OSError, http.client.HTTPException):
        return False

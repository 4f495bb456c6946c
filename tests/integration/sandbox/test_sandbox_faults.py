from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time

import pytest
from sandbox_client import MESSAGES, Client, contents, wait_until

from honchod.sandbox import Commit, Reply, Rule, SandboxHandle, running_sandbox

CUT = (http.client.RemoteDisconnected, ConnectionResetError)


def test_cut_before_commit_stores_nothing(sandbox: SandboxHandle, client: Client) -> None:
    sandbox.add_faults("POST messages: cut-before-commit times=1")
    with pytest.raises(CUT):
        client.say("lost")
    client.say("kept")
    assert contents(sandbox) == ["kept"]


def test_cut_after_commit_stores_the_batch(sandbox: SandboxHandle, client: Client) -> None:
    sandbox.add_faults("POST messages: cut-after-commit times=1")
    with pytest.raises(CUT):
        client.say("one", "two")
    assert contents(sandbox) == ["one", "two"]
    record = sandbox.requests()[-1]
    assert (record.status, record.committed, record.fault) == (0, True, "cut commit-now")


def test_status_stores_nothing_and_carries_retry_after(sandbox: SandboxHandle, client: Client) -> None:
    sandbox.add_faults("*: status=503 retry-after=30 times=2")
    first, second, third = client.say("a"), client.say("b"), client.say("c")
    assert [first.status, second.status, third.status] == [503, 503, 201]
    assert first.headers["Retry-After"] == "30"
    assert contents(sandbox) == ["c"]


def test_status_after_commit_stores_the_batch(sandbox: SandboxHandle, client: Client) -> None:
    sandbox.add_faults("POST messages: status-after-commit=502 times=1")
    assert client.say("a").status == 502
    assert contents(sandbox) == ["a"]


def test_portal_is_a_200_that_is_no_json(sandbox: SandboxHandle, client: Client) -> None:
    sandbox.add_faults("POST messages: portal")
    got = client.say("a")
    assert got.status == 200
    assert got.headers["Content-Type"] == "text/html"
    assert got.value.startswith("<!DOCTYPE html>")
    assert contents(sandbox) == []


def test_hang_never_answers_and_stores_nothing(sandbox: SandboxHandle, impatient: Client) -> None:
    sandbox.add_faults("POST messages: hang")
    with pytest.raises(TimeoutError):
        impatient.say("a")
    wait_until(lambda: sandbox.requests()[-1].answered_s is not None)
    assert contents(sandbox) == []


def test_hang_after_commit_never_answers_and_stores(sandbox: SandboxHandle, impatient: Client) -> None:
    sandbox.add_faults("POST messages: hang-after-commit")
    with pytest.raises(TimeoutError):
        impatient.say("a")
    assert contents(sandbox) == ["a"]


def test_partial_answer_breaks_off_after_the_commit(sandbox: SandboxHandle, client: Client) -> None:
    sandbox.add_faults("POST messages: partial times=1")
    with pytest.raises(http.client.IncompleteRead):
        client.say("a")
    assert contents(sandbox) == ["a"]


def test_commit_late_stores_after_the_client_timed_out(sandbox: SandboxHandle, impatient: Client) -> None:
    sandbox.add_faults("POST messages: commit-late=0.5 times=1")
    with pytest.raises(TimeoutError):
        impatient.say("late")
    gone_at_s = time.monotonic()
    assert contents(sandbox) == []
    wait_until(lambda: contents(sandbox) == ["late"])
    assert time.monotonic() - gone_at_s >= 0.4


def test_cut_commit_late_stores_after_the_connection_was_cut(sandbox: SandboxHandle, client: Client) -> None:
    sandbox.add_faults("POST messages: cut-commit-late=0.5 times=1")
    with pytest.raises(CUT):
        client.say("late")
    assert contents(sandbox) == []
    wait_until(lambda: contents(sandbox) == ["late"])


def test_down_refuses_connections_and_comes_back_on_the_same_port(
    sandbox: SandboxHandle, client: Client
) -> None:
    sandbox.add_faults("POST messages: down=0.6 times=1")
    with pytest.raises(CUT):
        client.say("a")
    with pytest.raises(ConnectionRefusedError):
        client.say("a")
    wait_until(lambda: _answers(client))
    client.say("b")
    assert contents(sandbox) == ["b"]


def test_take_down_drops_open_connections_and_keeps_the_port(sandbox: SandboxHandle, client: Client) -> None:
    assert client.call("GET", "/health").status == 200
    sandbox.take_down()
    with pytest.raises((*CUT, BrokenPipeError)):
        client.call("GET", "/health")
    with pytest.raises(ConnectionRefusedError):
        client.call("GET", "/health")
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", sandbox.port))
    sandbox.bring_up()
    assert client.call("GET", "/health").status == 200


def test_delays_before_and_after_the_commit(sandbox: SandboxHandle, client: Client) -> None:
    sandbox.add_faults("POST messages: delay=0.1 delay-after=0.1")
    start_s = time.monotonic()
    assert client.say("a").status == 201
    assert time.monotonic() - start_s >= 0.2


def test_only_the_session_that_is_named_is_hit(sandbox: SandboxHandle, client: Client) -> None:
    sandbox.add_faults("session=s: status=500")
    assert client.say("a").status == 500
    assert client.say("a", path=MESSAGES.replace("sessions/s/", "sessions/other/")).status == 201


def test_rules_as_objects(sandbox: SandboxHandle, client: Client) -> None:
    rule = Rule(content="needle", commit=Commit.NONE, reply=Reply.STATUS, status=418)
    sandbox.add_faults([rule])
    assert client.say("hay").status == 201
    assert client.say("a needle").status == 418
    sandbox.clear_faults()
    assert client.say("a needle").status == 201


def test_llm_down_breaks_what_needs_a_model_and_nothing_else(sandbox: SandboxHandle, client: Client) -> None:
    client.say("tea is good")
    sandbox.add_faults("*: llm-down")
    peer = "/v3/workspaces/w/peers/al"
    assert client.call("POST", f"{peer}/chat", {"query": "tea?"}).status == 500
    stream = client.call("POST", f"{peer}/chat", {"query": "tea?", "stream": True})
    assert (stream.status, stream.value) == (200, "")
    assert client.call("POST", f"{peer}/search", {"query": "tea"}).status == 500
    pair = {"observer_id": "al", "observed_id": "al"}
    made = client.call("POST", "/v3/workspaces/w/conclusions", {"conclusions": [{"content": "x", **pair}]})
    assert made.status == 500
    asked = client.call("POST", "/v3/workspaces/w/conclusions/query", {"query": "tea", "filters": pair})
    assert asked.status == 500
    assert client.call("POST", f"{peer}/representation", {"search_query": "tea"}).status == 200
    assert client.call("GET", "/v3/workspaces/w/sessions/s/context?peer_target=al").status == 200
    assert client.say("coffee is bad").status == 201


def test_what_is_said_while_the_model_is_down_is_done_and_not_derived(
    sandbox: SandboxHandle, client: Client
) -> None:
    sandbox.add_faults("POST messages: llm-down times=1")
    client.say("unheard")
    client.say("heard")
    status = client.call("GET", "/v3/workspaces/w/queue/status").value
    assert (status["completed_work_units"], status["pending_work_units"]) == (2, 0)
    assert [conclusion.content for conclusion in sandbox.conclusions("w")] == ["al said: heard"]


def test_latency_is_added_to_every_request() -> None:
    with running_sandbox(latency_s=0.1) as sandbox, Client(sandbox.url) as client:
        start_s = time.monotonic()
        client.call("GET", "/health")
        assert time.monotonic() - start_s >= 0.1


def test_stopping_does_not_wait_for_requests_that_hang() -> None:
    with running_sandbox(faults="*: hang") as sandbox, Client(sandbox.url, timeout_s=30.0) as client:
        asking = threading.Thread(target=_swallow, args=(client,))
        asking.start()
        wait_until(lambda: len(sandbox.requests()) == 1)
        start_s = time.monotonic()
    asking.join(25.0)
    assert time.monotonic() - start_s < 25.0


def _swallow(client: Client) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        client.call("GET", "/health")


def _answers(client: Client) -> bool:
    try:
        return client.call("GET", "/health").status == 200
    except OSError:
        return False

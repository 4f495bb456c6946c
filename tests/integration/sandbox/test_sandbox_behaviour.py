"""What is inconvenient about a real Honcho, and must be here too."""

from __future__ import annotations

import http.client
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sandbox_client import MESSAGES, Client, contents, wait_until

from honchod.sandbox import Behaviour, PeerConfig, SandboxHandle, running_sandbox

SESSIONS = "/v3/workspaces/w/sessions"
SESSION = f"{SESSIONS}/s"


def message(content: str = "x", peer: str = "al", **more: Any) -> dict[str, Any]:
    return {"peer_id": peer, "content": content, **more}


def test_the_same_batch_twice_is_stored_twice(sandbox: SandboxHandle, client: Client) -> None:
    batch = {"messages": [message("once", metadata={"honchod_id": "1"})]}
    assert client.call("POST", MESSAGES, batch).status == 201
    assert client.call("POST", MESSAGES, batch).status == 201
    first, second = sandbox.messages("w", "s")
    assert (first.content, first.metadata) == (second.content, second.metadata)
    assert first.id != second.id


def test_post_never_changes_the_flags_of_an_active_member(sandbox: SandboxHandle, client: Client) -> None:
    first = {"observe_me": True, "observe_others": False}
    other = {"observe_me": False, "observe_others": True}
    client.call("POST", SESSIONS, {"id": "s", "peers": {"al": first}})
    client.call("POST", SESSIONS, {"id": "s", "peers": {"al": other}})
    client.call("POST", f"{SESSION}/peers", {"al": other})
    assert sandbox.members("w", "s") == {"al": PeerConfig(True, False)}
    assert client.call("PUT", f"{SESSION}/peers/al/config", {"observe_me": False}).status == 204
    assert sandbox.members("w", "s") == {"al": PeerConfig(False, False)}


def test_a_member_made_by_its_first_message_keeps_empty_flags(sandbox: SandboxHandle, client: Client) -> None:
    client.say("hi")
    client.call("POST", SESSIONS, {"id": "s", "peers": {"al": {"observe_me": False}}})
    assert sandbox.members("w", "s") == {"al": PeerConfig(None, None)}


def test_one_that_left_comes_back_with_new_flags(sandbox: SandboxHandle, client: Client) -> None:
    client.call("POST", SESSIONS, {"id": "s", "peers": {"al": {"observe_me": True}}})
    client.call("DELETE", f"{SESSION}/peers", ["al"])
    assert sandbox.members("w", "s") == {}
    client.call("POST", f"{SESSION}/peers", {"al": {"observe_me": False}})
    assert sandbox.members("w", "s") == {"al": PeerConfig(False, None)}


def test_setting_the_peers_replaces_members_and_flags(sandbox: SandboxHandle, client: Client) -> None:
    client.call("POST", SESSIONS, {"id": "s", "peers": {"al": {"observe_me": True}, "bo": {}}})
    client.call("PUT", f"{SESSION}/peers", {"al": {"observe_me": False}, "cy": {}})
    assert sandbox.members("w", "s") == {"al": PeerConfig(False, None), "cy": PeerConfig()}


def test_an_eleventh_observer_is_refused(sandbox: SandboxHandle, client: Client) -> None:
    ten = {f"o{n}": {"observe_others": True} for n in range(10)}
    assert client.call("POST", SESSIONS, {"id": "s", "peers": ten}).status == 201
    refused = client.call("POST", f"{SESSION}/peers", {"late": {"observe_others": True}})
    assert refused.status == 400
    client.say("hi")
    assert client.call("PUT", f"{SESSION}/peers/al/config", {"observe_others": True}).status == 400
    assert len(sandbox.members("w", "s")) == 11


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        (message("<|endoftext|>"), 422),
        (message("<|endofprompt|>"), 422),
        (message("<|fim_prefix|>"), 500),
        (message("<|fim_middle|>"), 500),
        (message("<|fim_suffix|>"), 500),
        (message("\ud800"), 500),
        (message(metadata={"k": float("nan")}), 500),
        (message("x" * 25_001), 422),
        (message(peer="a.b"), 422),
        (message(peer="x" * 513), 422),
        (message(metadata={f"k{n}": 1 for n in range(101)}), 422),
        (message(created_at="yesterday"), 422),
        ({"content": "no peer"}, 422),
        ("no object", 422),
    ],
)
def test_one_bad_message_fails_the_whole_batch(
    sandbox: SandboxHandle, client: Client, bad: Any, status: int
) -> None:
    assert client.call("POST", MESSAGES, {"messages": [message("good"), bad]}).status == status
    assert contents(sandbox) == []


def test_a_batch_that_breaks_the_server_leaves_its_session_behind(
    sandbox: SandboxHandle, client: Client
) -> None:
    client.say("<|fim_prefix|>")
    assert [session.id for session in sandbox.sessions("w")] == ["s"]
    assert list(sandbox.members("w", "s")) == ["al"]


def test_a_batch_with_a_bad_peer_leaves_no_session_behind(sandbox: SandboxHandle, client: Client) -> None:
    client.call("POST", "/v3/workspaces", {"id": "w"})
    client.call("POST", MESSAGES, {"messages": [message(peer="a.b")]})
    assert sandbox.sessions("w") == []


def test_a_workspace_whose_first_request_was_rejected_is_stale_for_a_while() -> None:
    behaviour = Behaviour(stale_workspace_s=0.5)
    with running_sandbox(behaviour=behaviour) as sandbox, Client(sandbox.url) as client:
        assert client.call("POST", MESSAGES, {"messages": [message(peer="a.b")]}).status == 422
        stale = client.say("too early")
        assert (stale.status, stale.value) == (409, {"detail": "Unable to create or get session: s"})
        wait_until(lambda: client.say("in time").status == 201)
        assert contents(sandbox) == ["in time"]


@pytest.mark.parametrize("bad", [b'"\\ud800"', b"NaN", b"-Infinity", b'{"k": ["\\uDFFF"]}'])
def test_what_the_database_cannot_hold_is_a_500_anywhere(
    sandbox: SandboxHandle, client: Client, bad: bytes
) -> None:
    body = b'{"id": "s", "metadata": {"k": %b}}' % bad
    assert client.call("POST", SESSIONS, body).status == 500
    assert sandbox.sessions("w") == []


def test_an_escaped_pair_of_surrogates_is_one_character(sandbox: SandboxHandle, client: Client) -> None:
    body = b'{"messages": [{"peer_id": "al", "content": "\\ud83d\\ude00 NaN"}]}'
    assert client.call("POST", MESSAGES, body).status == 201
    assert contents(sandbox) == ["\U0001f600 NaN"]


def test_a_zero_width_character_makes_a_token_harmless(sandbox: SandboxHandle, client: Client) -> None:
    assert client.say("<|\u200bendoftext|>", "<|\u200bfim_prefix|>").status == 201
    assert len(contents(sandbox)) == 2


def test_the_largest_batch_and_the_longest_content_are_taken(sandbox: SandboxHandle, client: Client) -> None:
    assert client.say(*["\U0001f600" * 25_000] * 2, *["x"] * 98).status == 201
    assert len(contents(sandbox)) == 100


@pytest.mark.parametrize(
    "path", ["/v3/workspaces/w/sessions/a.b/messages", "/v3/workspaces/a.b/sessions/s/messages"]
)
def test_a_bad_id_in_the_path_is_a_500_when_written_and_nothing_when_read(client: Client, path: str) -> None:
    assert client.say("x", path=path).status == 500
    listed = client.call("POST", f"{path}/list", {})
    assert (listed.status, listed.value["items"]) == (200, [])


def test_after_a_500_the_connection_is_closed_unannounced(sandbox: SandboxHandle) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", sandbox.port, timeout=5)
    try:
        body = b'{"messages": [{"peer_id": "al", "content": "<|fim_prefix|>"}]}'
        connection.request("POST", MESSAGES, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 500
        assert answer.getheader("Connection") is None
        answer.read()
        assert connection.sock is not None
        assert connection.sock.recv(1) == b""
    finally:
        connection.close()


def test_order_is_that_of_insertion_not_of_created_at(client: Client) -> None:
    batch = [
        message("second", created_at="2026-01-02T00:00:00Z"),
        message("first", created_at="2026-01-01T00:00:00Z"),
    ]
    client.call("POST", MESSAGES, {"messages": batch})
    listed = client.call("POST", f"{MESSAGES}/list", {}).value["items"]
    assert [one["content"] for one in listed] == ["second", "first"]
    context = client.call("GET", f"{SESSION}/context").value["messages"]
    assert [one["content"] for one in context] == ["second", "first"]


def test_a_time_past_the_year_9999_is_taken_and_breaks_every_later_read(client: Client) -> None:
    client.say("fine")
    poison = message("poison", created_at="9999-12-31T23:59:59-05:00")
    assert client.call("POST", MESSAGES, {"messages": [poison]}).status == 201
    assert client.call("POST", f"{MESSAGES}/list", {}).status == 500
    assert client.call("GET", f"{SESSION}/context").status == 500
    assert client.say("still stored").status == 201


def test_nul_is_stripped_from_content_and_metadata(sandbox: SandboxHandle, client: Client) -> None:
    client.call("POST", MESSAGES, {"messages": [message("a\0b", metadata={"k\0": ["v\0"]})]})
    stored = sandbox.messages("w", "s")[0]
    assert (stored.content, stored.metadata) == ("ab", {"k": ["v"]})


def test_concurrent_batches_of_one_session_do_not_interleave(sandbox: SandboxHandle) -> None:
    def send(number: int) -> None:
        with Client(sandbox.url) as client:
            assert client.say(*[f"{number}-{part}" for part in range(50)]).status == 201

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(8)))
    stored = contents(sandbox)
    batches = [stored[start : start + 50] for start in range(0, 400, 50)]
    for batch in batches:
        number = batch[0].split("-")[0]
        assert batch == [f"{number}-{part}" for part in range(50)]


def test_a_deleted_session_is_404_for_a_while_and_then_made_anew() -> None:
    with running_sandbox(behaviour=Behaviour(delete_delay_s=0.8)) as sandbox, Client(sandbox.url) as client:
        client.say("old")
        assert client.call("DELETE", SESSION).status == 202
        assert client.say("too early").status == 404
        assert client.call("POST", SESSIONS, {"id": "s"}).status == 404
        wait_until(lambda: client.say("new").status == 201)
        assert contents(sandbox) == ["new"]


def test_a_workspace_is_deleted_only_without_active_sessions(client: Client) -> None:
    client.say("hi")
    assert client.call("DELETE", "/v3/workspaces/w").status == 409
    client.call("DELETE", SESSION)
    assert client.call("DELETE", "/v3/workspaces/w").status == 202
    assert client.call("DELETE", "/v3/workspaces/w").status == 404


def test_older_servers_have_shorter_ids() -> None:
    with running_sandbox(behaviour=Behaviour(id_chars=100)) as sandbox, Client(sandbox.url) as client:
        assert client.call("POST", "/v3/workspaces", {"id": "x" * 100}).status == 201
        assert client.call("POST", "/v3/workspaces", {"id": "x" * 101}).status == 422
        assert client.say("x", path=f"{SESSIONS}/{'s' * 101}/messages").status == 500


def test_unobserved_peers_leave_no_observations(sandbox: SandboxHandle, client: Client) -> None:
    peers = {"al": {"observe_me": False}, "bo": {"observe_others": True}}
    client.call("POST", SESSIONS, {"id": "s", "peers": peers})
    batch = [message("secret"), message("open", peer="bo"), message("heard", peer="cy")]
    client.call("POST", MESSAGES, {"messages": batch})
    held = [(one.observer_id, one.content) for one in sandbox.conclusions("w")]
    assert held == [("bo", "bo said: open"), ("cy", "cy said: heard"), ("bo", "cy said: heard")]


def test_session_configuration_merges_and_metadata_replaces(client: Client) -> None:
    first = {"id": "s", "metadata": {"a": 1}, "configuration": {"summary": {"enabled": False}}}
    client.call("POST", SESSIONS, first)
    second = {"metadata": {"b": 2}, "configuration": {"reasoning": {"enabled": False}}}
    changed = client.call("PUT", SESSION, second).value
    assert changed["metadata"] == {"b": 2}
    assert changed["configuration"] == {"summary": {"enabled": False}, "reasoning": {"enabled": False}}
    client.say(*["x"] * 20)
    assert client.call("GET", f"{SESSION}/summaries").value["short_summary"] is None


def test_a_session_is_configured_like_its_workspace_unless_it_says_otherwise(
    sandbox: SandboxHandle, client: Client
) -> None:
    off, on = {"reasoning": {"enabled": False}}, {"reasoning": {"enabled": True}}
    client.call("POST", "/v3/workspaces", {"id": "w", "configuration": off})
    client.say("unseen")
    client.call("PUT", SESSION, {"configuration": on})
    client.say("seen")
    assert [one.content for one in sandbox.conclusions("w")] == ["al said: seen"]


def test_webhooks_are_registered_bounded_and_deleted(client: Client) -> None:
    hooks = "/v3/workspaces/w/webhooks"
    made = client.call("POST", hooks, {"url": "http://localhost:9/hook"})
    assert made.status == 201
    assert client.call("POST", hooks, {"url": "http://localhost:9/hook"}).status == 200
    assert client.call("POST", hooks, {"url": "http://127.0.0.1:9/hook"}).status == 422
    for n in range(9):
        client.call("POST", hooks, {"url": f"https://example.org/{n}"})
    assert client.call("POST", hooks, {"url": "https://example.org/x"}).status == 409
    assert client.call("DELETE", f"{hooks}/{made.value['id']}").status == 204
    assert client.call("GET", hooks).value["total"] == 9


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("peer_perspective=al", 422),
        ("scope=x", 422),
        ("peer_target=al&scope=x&peer_perspective=bo", 422),
        ("peer_target=al&sessions=other", 422),
        ("peer_target=al&sessions=s&limit_to_session=true", 422),
        ("peer_target=nobody", 404),
        ("peer_target=al&peer_perspective=nobody", 404),
        ("peer_target=nobody&peer_perspective=al", 200),
        ("tokens=0", 200),
        ("tokens=many", 422),
        ("search_top_k=0", 422),
    ],
)
def test_what_a_context_call_may_ask_for(client: Client, query: str, status: int) -> None:
    client.call("POST", "/v3/workspaces/w/peers", {"id": "al"})
    assert client.call("GET", f"{SESSION}/context?{query}").status == status


def test_a_question_about_nobody_is_not_found_and_its_stream_is_empty(client: Client) -> None:
    """Honcho looks for the peer only once its stream has begun (seen live, 3.0.12)."""
    client.say("tea is good")
    chat = "/v3/workspaces/w/peers/al/chat"
    about = {"query": "tea?", "target": "stranger"}
    assert client.call("POST", chat, about).status == 404
    stream = client.call("POST", chat, {**about, "stream": True})
    assert (stream.status, stream.value) == (200, "")

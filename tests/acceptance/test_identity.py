"""Who, where and under which name, through the socket of the real program.

Cases C01, C04–C07, C09, C23, C27, C29–C32, C37, C38, and what a reload changes.
"""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from honchod.client import Client
from honchod.client.errors import NoIdentity, Unprocessable
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network, running_network
from support.shared_daemon import SharedDaemon
from support.waiting import wait_until

SKIPPED_BY_AUTHOR = [("skipped", "author")]


def outcomes(written: Any) -> list[tuple[str, str | None]]:
    return [(result.status, result.reason) for result in written.results]


def say(
    client: Client, content: str = "hello", session: str = "s", *, group: bool = False, **more: Any
) -> Any:
    host = more.pop("host", None)
    return client.write([{"content": content, **more}], session=session, group=group, host=host)


def test_capture_that_is_off_stores_and_sends_nothing_but_what_is_asked_for(
    daemon: DaemonProcess, hosts: dict[str, Any], network: Network, remote: Remote, workspace: str
) -> None:
    """C01, also at exit."""
    daemon.use_hosts({**hosts, "saveMessages": False})
    with daemon.start().client() as client:
        written = client.write([{"content": f"message {number}"} for number in range(4)], session="s")
    assert outcomes(written) == [("skipped", "capture_off")] * 4
    assert daemon.stop() == 0
    with daemon.start().client() as client:
        assert client.status()["queue"]["pending"] == 0
        assert network.sent() == []
        client.call("POST", "/v1/identity/seed", {"source": "SOUL.md", "content": "I am asked for."})
    daemon.wait_for_delivery()
    assert len(remote.messages(workspace, "default-identity")) == 1


@pytest.mark.parametrize("author", ["cron", "automation", "skill", "tool", "subagent", "import"])
def test_what_no_person_wrote_never_lands_on_the_person(shared: SharedDaemon, author: str) -> None:
    """C04, C05 (8 KB of a skill's instructions), C09 (a subagent without a session of its own)."""
    test = shared.configured(hosts={"mapped": {"authorPeers": {author: "machine"}}})
    content = "Follow these instructions. " * 300
    assert outcomes(say(test.client, content, author=author)) == SKIPPED_BY_AUTHOR
    assert outcomes(say(test.client, content, author=author, peer="ann")) == SKIPPED_BY_AUTHOR
    assert outcomes(say(test.client, content, host="mapped", author=author)) == [("queued", None)]
    assert test.spoken() == [("machine", content)]


def test_a_runtime_s_own_turns_are_dropped_and_talk_about_them_is_kept(shared: SharedDaemon) -> None:
    """C06, C07, with the patterns of the hosts' own runtimes."""
    test = shared.configured(hosts={"hermes": {}, "openclaw_home": {}})
    client = test.client
    kept = "why did I see [ASYNC DELEGATION TASK FAILED — deleg_x]?"
    beat = "HEARTBEAT_OK appears in my log, why?"
    noise = say(client, "[ASYNC DELEGATION TASK FAILED — deleg_x, task 2/3] …", host="hermes")
    assert outcomes(noise) == [("skipped", "noise")]
    assert outcomes(say(client, kept, host="hermes")) == [("queued", None)]
    assert outcomes(say(client, "HEARTBEAT_OK", host="openclaw_home")) == [("skipped", "noise")]
    assert outcomes(say(client, beat, session="beat", host="openclaw_home")) == [("queued", None)]
    assert test.spoken() == [("ann", kept)]
    assert test.spoken("beat") == [("ann", beat)]


def long_text(chars: int) -> str:
    """Words, with a paragraph's end at 20 % and at 50 % of the first 25,000."""
    words = "word " * (chars // 5 + 1)
    return (words[:4_998] + "\n\n" + words[5_000:12_498] + "\n\n" + words[12_500:])[:chars]


@pytest.mark.parametrize(("chars", "parts"), [(25_000, 1), (25_001, 2), (60_000, 3)])
def test_long_content_is_cut_where_a_reader_would_and_arrives_whole(
    shared: SharedDaemon, chars: int, parts: int
) -> None:
    """C23."""
    test = shared.configured()
    text = long_text(chars)
    assert [result.parts for result in say(test.client, text).results] == [parts]
    pieces = test.contents()
    assert len(pieces) == parts
    assert all(len(piece) <= 25_000 for piece in pieces)
    assert parts == 1 or len(pieces[0]) == 12_500
    assert pieces[0] + "".join(piece.removeprefix("[continued] ") for piece in pieces[1:]) == text
    stored = test.remote.messages(test.workspace, "s")
    numbered = [message["metadata"].get("honchod_part") for message in stored]
    assert numbered == ([None] if parts == 1 else list(range(1, parts + 1)))


def test_session_keys_become_valid_ids_that_stay_apart_and_the_same(shared: SharedDaemon) -> None:
    """C27."""
    test = shared.configured()
    common = "k" * 120
    keys = [
        "agent:main!telegram.dm:" + "x" * 90,
        common + "a" * 30,
        common + "b" * 30,
        "a.b",
        "a-b",
    ]
    sessions = [say(test.client, key, session=key).session for key in keys]
    assert [say(test.client, "again", session=key).session for key in keys] == sessions
    assert len(set(sessions)) == len(keys)
    assert all(len(session) <= 100 for session in sessions)
    assert [test.contents(session) for session in sessions] == [[key, "again"] for key in keys]


def test_in_a_group_nobody_becomes_the_owner(shared: SharedDaemon) -> None:
    """C29; nor does somebody who calls himself like him."""
    test = shared.configured()
    say(test.client, "who am I?", group=True)
    for user in ("111", "222", "ann"):
        say(test.client, f"I am {user}", group=True, runtime_user=user)
    spoke = {content: peer for peer, content in test.spoken()}
    assert (spoke["who am I?"], spoke["I am 111"], spoke["I am 222"]) == ("unknown", "111", "222")
    assert spoke["I am ann"] not in ("ann", "bot", "unknown")


def test_users_of_a_gateway_have_peers_of_their_own(shared: SharedDaemon) -> None:
    """C30; with a pin all of them are the owner."""
    aliases = {"userPeerAliases": {"111": "alice"}}
    test = shared.configured(**aliases, hosts={"pinned": {"pinUserPeer": True}})
    for user in ("111", "222"):
        say(test.client, user, runtime_user=user)
        say(test.client, user, session="pinned", host="pinned", runtime_user=user)
    assert test.spoken() == [("alice", "111"), ("222", "222")]
    assert test.spoken("pinned") == [("ann", "111"), ("ann", "222")]


def test_without_anybody_to_put_it_on_a_message_is_refused_and_no_peer_made(shared: SharedDaemon) -> None:
    """C31."""
    test = shared.configured(peerName=None)
    with pytest.raises(NoIdentity):
        test.client.write([{"content": "hello", "role": "assistant"}, {"content": "hi"}], session="s")
    assert test.client.status()["queue"]["pending"] == 0
    assert test.seen() == []


@pytest.mark.skipif("HONCHOD_LIVE_KEY" in os.environ, reason="the server asks for a key of its own")
def test_two_hosts_never_land_in_each_other_s_workspace_or_use_its_key(shared: SharedDaemon) -> None:
    """C32."""
    test = shared.configured()
    blocks = {
        name: {
            "workspace": f"{test.workspace}-{name}",
            "apiKey": f"key-of-{name}",
            "baseUrl": test.network.url,
        }
        for name in ("one", "two")
    }
    test = shared.configured(workspace=test.workspace, hosts=blocks)
    for number in range(60):
        name = ("one", "two")[number % 2]
        say(test.client, f"{name} {number}", host=name)
    test.daemon.wait_for_delivery()
    for start, name in enumerate(("one", "two")):
        expected = [f"{name} {number}" for number in range(start, 60, 2)]
        assert test.remote.contents(f"{test.workspace}-{name}", "s") == expected
        keys = {one.authorization for one in test.seen() if one.workspace == f"{test.workspace}-{name}"}
        assert keys == {f"Bearer key-of-{name}"}


def test_a_url_that_does_not_resolve_is_never_replaced_by_the_cloud(
    daemon: DaemonProcess, hosts: dict[str, Any]
) -> None:
    """C37: with a key for the cloud in the environment."""
    daemon.environ = {"HONCHO_API_KEY": "a-key-for-the-cloud"}
    url = "http://honcho.invalid:8000"
    daemon.use_hosts({"peerName": "ann", "hosts": {"hermes": {"baseUrl": url}}})
    with daemon.start().client() as client:
        say(client, host="hermes")
        (seen,) = wait_until(
            lambda: [
                destination
                for destination in client.status()["destinations"]
                if destination["host"] == "hermes" and destination["state"] == "unreachable"
            ],
            "the host to be unreachable",
        )
    assert (seen["url"], seen["key_source"]) == (url, "none")
    assert seen["delivered"] == 0
    assert "a-key-for-the-cloud" not in daemon.log()


def test_a_url_may_end_in_the_version(shared: SharedDaemon) -> None:
    """C38."""
    url = shared.configured().network.url
    test = shared.configured(baseUrl=f"{url}/v3/")
    say(test.client)
    assert test.client.status()["destinations"][0]["url"] == url
    assert test.contents() == ["hello"]
    assert all(one.path.startswith("/v3/workspaces") for one in test.seen())


def test_a_url_with_an_invisible_character_is_refused_at_the_start(
    daemon: DaemonProcess, hosts: dict[str, Any]
) -> None:
    """C38, and everything else that is wrong, at once."""
    wrong = {"baseUrl": "http://h\u200b:8000", "dialecticDepth": 4, "hosts": {"x": {"recallMode": "off"}}}
    daemon.use_hosts({**hosts, **wrong})
    assert daemon.start(ready=False).wait() == 2
    lines = daemon.log().splitlines()
    assert len(lines) == 3
    assert "baseUrl" in lines[0] + lines[1]
    assert "\u200b" not in daemon.log()
    assert "dialecticDepth = 4: expected a whole number from 1 to 3" in daemon.log()
    assert 'hosts.x.recallMode = "off": expected one of hybrid, context, tools' in daemon.log()


def test_a_bad_file_changes_nothing_at_a_reload(
    daemon: DaemonProcess, hosts: dict[str, Any], remote: Remote, workspace: str
) -> None:
    with daemon.start().client() as client:
        daemon.use_hosts({**hosts, "peerName": "bea", "contextTokens": -1})
        with pytest.raises(Unprocessable, match=r"contextTokens = -1: expected a whole number from 1"):
            client.reload()
        daemon.signal(signal.SIGHUP)
        wait_until(lambda: daemon.events("config.refused"), "the signal to be refused")
        say(client, "as before")
        daemon.settings_file.write_text("[delivery]\nconcurrency = 0\n")
        daemon.use_hosts({**hosts, "peerName": "bea"})
        with pytest.raises(Unprocessable, match="concurrency = 0"):
            client.reload()
        say(client, "as before too")
    daemon.wait_for_delivery()
    assert remote.speakers(workspace, "s") == [("ann", "as before"), ("ann", "as before too")]


def test_a_good_file_holds_from_the_reload_on(
    daemon: DaemonProcess, hosts: dict[str, Any], remote: Remote, workspace: str
) -> None:
    with daemon.start().client() as client:
        say(client, "ACME-1 as ann")
        daemon.use_hosts({**hosts, "peerName": "bea"})
        daemon.configure({"capture": {"patterns": [r"ACME-\d"]}})
        daemon.signal(signal.SIGHUP)
        wait_until(lambda: daemon.events("config.reloaded"), "the signal to be heeded")
        say(client, "ACME-2 as bea")
    daemon.wait_for_delivery()
    assert remote.speakers(workspace, "s") == [("ann", "ACME-1 as ann"), ("bea", "[redacted:custom] as bea")]


def test_what_is_under_way_at_a_reload_ends_on_its_old_way(
    daemon: DaemonProcess,
    hosts: dict[str, Any],
    network: Network,
    server_url: str,
    remote: Remote,
    workspace: str,
) -> None:
    network.hit("POST messages: delay=1.5 times=1")
    with running_network(server_url) as other, daemon.start().client() as client:
        say(client, "under way")
        wait_until(network.sent, "the first batch to be on its way")
        daemon.use_hosts({**hosts, "baseUrl": other.url})
        client.reload()
        say(client, "afterwards")
        daemon.wait_for_delivery()
        assert [one.contents for one in network.sent()] == [["under way"]]
        assert [one.contents for one in other.sent()] == [["afterwards"]]
    assert remote.contents(workspace, "s") == ["under way", "afterwards"]


def test_status_never_shows_a_key(daemon: DaemonProcess, hosts: dict[str, Any], network: Network) -> None:
    key = "a-key-that-is-nobody-s-business"
    daemon.use_hosts({**hosts, "apiKey": key})
    with daemon.start().client() as client:
        say(client)
        shown = json.dumps([client.status(), client.info(), client.health(), client.checks()])
    assert key not in shown
    assert key not in daemon.log()
    assert key.encode() not in daemon.database.read_bytes()

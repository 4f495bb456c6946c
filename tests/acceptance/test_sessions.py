"""Sessions through the socket of the real program: their names, ends, generations, and when they are sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from honchod.client import Client
from honchod.client.errors import BadRequest, UnknownHost
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.shared_daemon import SharedDaemon


def call(client: Client, what: str, **body: Any) -> Any:
    return getattr(client, f"{what}_session")(**body)


def say(client: Client, *contents: str, session: str = "s", turn_end: bool = False, **more: Any) -> Any:
    messages = [{"id": content, "content": content, **more} for content in contents]
    return client.write(messages, session=session, turn_end=turn_end)


def turn(client: Client, number: int, session: str = "s") -> None:
    say(client, f"question {number}", session=session)
    say(client, f"answer {number}", session=session, turn_end=True, role="assistant")


def texts(*numbers: int) -> list[str]:
    return [text for number in numbers for text in (f"question {number}", f"answer {number}")]


def test_a_session_is_resolved_without_being_made(shared: SharedDaemon) -> None:
    test = shared.configured(userMemoryMode="honcho", recallMode="tools", writeFrequency=3)
    answer = call(test.client, "resolve", session="chat:7", scope="a0-x")
    assert answer["session"].startswith("chat-7-")
    assert {key: answer[key] for key in ("source", "generation", "workspace", "peers", "scope")} == {
        "source": "session",
        "generation": 0,
        "workspace": test.workspace,
        "peers": {"user": "ann", "ai": "bot"},
        "scope": "a0-x",
    }
    assert answer["modes"] == {
        "user": "honcho",
        "agent": "hybrid",
        "recall": "tools",
        "save_messages": True,
        "write_frequency": 3,
    }
    assert answer["local_files"] == {"user": False, "agent": True}
    assert test.seen() == []


def test_the_resolved_session_is_the_one_that_messages_go_to(shared: SharedDaemon, tmp_path: Path) -> None:
    test = shared.configured()
    locator = {"cwd": str(tmp_path)}
    resolved = call(test.client, "resolve", locator=locator)
    written = test.client.write([{"content": "hello"}], locator=locator)
    assert resolved["source"] == "per-directory"
    assert resolved["session"] == written.session
    assert test.contents(written.session) == ["hello"]


@pytest.mark.parametrize("what", ["resolve", "end", "reset"])
def test_a_request_that_says_too_little_or_names_no_host_is_refused(shared: SharedDaemon, what: str) -> None:
    client = shared.configured().client
    with pytest.raises(BadRequest, match="session"):
        call(client, what)
    with pytest.raises(UnknownHost):
        call(client, what, host="nobody", session="s")


def test_every_message_is_durable_and_the_lane_due_with_every_third_turn(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str, hosts: dict[str, Any]
) -> None:
    """C02, with a kill in between: what is held is on disk like everything else."""
    daemon.use_hosts({**hosts, "writeFrequency": 3})
    with daemon.start().client() as client:
        turn(client, 1)
        turn(client, 2)
        assert daemon.status()["queue"]["pending"] == 4
        daemon.kill()
    with daemon.start().client() as client:
        assert daemon.status()["queue"]["pending"] == 4
        assert network.sent() == []
        turn(client, 3)
        daemon.wait_for_delivery()
        assert remote.contents(workspace, "s") == texts(1, 2, 3)
        turn(client, 4)
        turn(client, 5)
        assert daemon.status()["queue"]["pending"] == 4
        turn(client, 6)
        daemon.wait_for_delivery()
        assert remote.contents(workspace, "s") == texts(1, 2, 3, 4, 5, 6)
    assert len(network.sent("s")) == 2


def test_what_is_left_of_the_turns_goes_at_the_end_of_the_session(shared: SharedDaemon) -> None:
    """C02, its other end."""
    test = shared.configured(writeFrequency=3)
    for number in range(1, 6):
        turn(test.client, number)
        if number == 3:
            assert test.contents() == texts(1, 2, 3)
    assert call(test.client, "end", session="s") == {"session": "s", "pending": 4}
    assert test.contents() == texts(1, 2, 3, 4, 5)


@pytest.mark.parametrize(("frequency", "sent_at_turn"), [("turn", True), ("session", False)])
def test_turns_and_sessions_decide_when_it_is_sent(
    shared: SharedDaemon, frequency: str, sent_at_turn: bool
) -> None:
    test = shared.configured(writeFrequency=frequency)
    say(test.client, "question 1")
    assert test.daemon.status()["queue"]["pending"] == 1
    say(test.client, "answer 1", role="assistant", turn_end=True)
    if not sent_at_turn:
        assert test.daemon.status()["queue"]["pending"] == 2
        call(test.client, "end", session="s")
    assert test.contents() == texts(1)


def test_a_turn_that_ends_with_a_skipped_message_is_sent(shared: SharedDaemon) -> None:
    test = shared.configured(writeFrequency="turn", agentMemoryMode="local")
    turn(test.client, 1)
    assert test.contents() == ["question 1"]


def test_a_drain_sends_what_is_held(shared: SharedDaemon) -> None:
    test = shared.configured(writeFrequency="session")
    say(test.client, *(f"m{number}" for number in range(250)))
    assert test.client.drain(30)["drained"]
    assert len(test.contents()) == 250


def test_a_reset_starts_a_new_session_and_leaves_what_waits_with_the_old_one(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """C28, with a restart between: the generation is on disk."""
    network.take_down()
    with daemon.start().client() as client:
        say(client, "old 1", "old 2", "old 3")
        reset = call(client, "reset", session="s")
        assert reset["generation"] == 1
        assert reset["session"] != "s"
        assert say(client, "new 1").session == reset["session"]
    daemon.stop()
    network.heal()
    with daemon.start().client() as client:
        assert call(client, "resolve", session="s")["generation"] == 1
        assert say(client, "new 2").session == reset["session"]
        daemon.wait_for_delivery()
        again = call(client, "reset", session="s")
    assert again["generation"] == 2
    assert again["session"] not in ("s", reset["session"])
    assert remote.contents(workspace, "s") == ["old 1", "old 2", "old 3"]
    assert remote.contents(workspace, reset["session"]) == ["new 1", "new 2"]


def test_a_message_id_is_new_in_a_new_generation(shared: SharedDaemon) -> None:
    test = shared.configured()
    say(test.client, "hello")
    session = call(test.client, "reset", session="s")["session"]
    assert [result.status for result in say(test.client, "hello").results] == ["queued"]
    assert test.contents(session) == ["hello"]


def test_a_reset_makes_what_the_old_session_held_due(shared: SharedDaemon) -> None:
    test = shared.configured(writeFrequency="session")
    say(test.client, "old")
    call(test.client, "reset", session="s")
    assert test.contents() == ["old"]


def test_sessions_of_two_hosts_are_reset_apart(shared: SharedDaemon) -> None:
    client = shared.configured(hosts={"hermes": {}}).client
    call(client, "reset", session="s")
    assert call(client, "resolve", session="s", host="hermes")["generation"] == 0


def test_the_prompt_block_names_agent_mode_session_and_commands_and_stays_the_same(
    shared: SharedDaemon,
) -> None:
    client = shared.configured(hosts={"hermes": {"aiPeer": "Hermes", "recallMode": "context"}}).client
    first = client.prompt("chat:7", host="hermes")
    say(client, "something else", session="chat:7")
    again = client.prompt("chat:7", host="hermes")
    session = call(client, "resolve", host="hermes", session="chat:7")["session"]
    assert first == again
    assert (first["agent"], first["mode"], first["session"]) == ("Hermes", "context", session)
    assert first["text"].startswith("You are Hermes.")
    assert f"Session: {session}. Mode: context." in first["text"]
    for command in first["commands"]:
        assert command["usage"] in first["text"]
    assert "honchod mode [hybrid|context|tools] --host hermes" in first["text"]


def test_a_disabled_host_has_no_prompt_block(shared: SharedDaemon) -> None:
    client = shared.configured(enabled=False).client
    assert client.prompt()["text"] == ""

"""Persona and memory files through the socket: once, as the right peer, redacted (case C48)."""

from __future__ import annotations

from typing import Any

import pytest

from honchod.client import Client
from honchod.client.errors import NoIdentity, TooLarge
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.shared_daemon import SharedDaemon
from support.waiting import wait_until

SESSION = "default-identity"
PERSONA = "I am Bot, dry and exact.\n\nI never guess."
MEMORY = "# USER\n\nAnn lives in Lisbon."


def seed(client: Client, content: str = PERSONA, source: str = "SOUL.md", **more: Any) -> Any:
    return client.call("POST", "/v1/identity/seed", {"source": source, "content": content, **more})


def upload(client: Client, content: str = MEMORY, source: str = "USER.md", **more: Any) -> Any:
    return client.call("POST", "/v1/identity/file", {"source": source, "content": content, **more})


def test_a_persona_is_a_message_of_the_ai_peer(shared: SharedDaemon) -> None:
    test = shared.configured()
    answer = seed(test.client)
    assert (answer["session"], answer["status"], answer["parts"]) == (SESSION, "queued", 1)
    assert test.spoken(SESSION) == [
        ("bot", f"<ai_identity_seed>\n<source>SOUL.md</source>\n\n{PERSONA}\n</ai_identity_seed>")
    ]
    assert test.remote.flags(test.workspace, SESSION, "bot")["observe_me"] is True


def test_a_memory_file_is_a_file_of_the_user_peer(shared: SharedDaemon) -> None:
    test = shared.configured()
    upload(test.client)
    assert test.spoken(SESSION) == [("ann", MEMORY)]
    (message,) = test.remote.messages(test.workspace, SESSION)
    assert message["metadata"]["honchod_file"] == "USER.md"
    assert [one.path for one in test.seen() if one.path.endswith("/upload")]


def test_a_server_that_takes_no_files_gets_the_same_as_messages(shared: SharedDaemon) -> None:
    test = shared.configured()
    test.network.hit("POST upload: status=405")
    text = "".join(f"{number:06}" for number in range(9_000))
    upload(test.client, text)
    contents = test.contents(SESSION)
    assert "".join(contents) == text
    assert [len(content) for content in contents] == [25_000, 25_000, 4_000]


@pytest.mark.parametrize("take", [seed, upload])
def test_the_same_file_is_taken_in_once_for_ever_unless_asked_for(
    daemon: DaemonProcess, remote: Remote, workspace: str, take: Any
) -> None:
    """The ledger outlives the window in which ids of messages are known."""
    daemon.configure({"outbox": {"dedupe_window": 0}})
    with daemon.start().client() as client:
        first = take(client)
        daemon.wait_for_delivery()
    daemon.stop()
    with daemon.start().client() as client:
        assert take(client, source="copy.md") == {**first, "status": "duplicate"}
        assert take(client, content="Something else.")["status"] == "queued"
        daemon.wait_for_delivery()
        assert len(remote.messages(workspace, SESSION)) == 2
        assert take(client, again=True)["status"] == "queued"
        daemon.wait_for_delivery()
    assert len(remote.messages(workspace, SESSION)) == 3


@pytest.mark.parametrize(("take", "endpoint"), [(seed, "messages"), (upload, "upload")])
def test_a_crash_between_upload_and_ledger_leaves_one_copy(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str, take: Any, endpoint: str
) -> None:
    """C48: Honcho has it, no answer comes, and the daemon is killed before it knows."""
    network.hit(f"POST {endpoint}: hang-after-commit times=1")
    with daemon.start().client() as client:
        take(client)
        wait_until(lambda: remote.messages(workspace, SESSION), "the file to be committed")
        daemon.kill()
    network.heal()
    with daemon.start().client() as client:
        assert take(client)["status"] == "duplicate"
        daemon.wait_for_delivery()
        assert take(client)["status"] == "duplicate"
    daemon.wait_for_delivery()
    assert len(remote.messages(workspace, SESSION)) == 1


def test_a_long_persona_is_cut_and_every_piece_is_a_seed(shared: SharedDaemon) -> None:
    test = shared.configured()
    assert seed(test.client, "word " * 12_000)["parts"] == 3
    contents = test.contents(SESSION)
    assert all(len(content) <= 25_000 for content in contents)
    assert all(content.startswith("<ai_identity_seed>\n<source>") for content in contents)
    assert all(content.endswith("</ai_identity_seed>") for content in contents)


def test_a_persona_cannot_close_or_forge_its_own_frame(shared: SharedDaemon) -> None:
    test = shared.configured()
    seed(test.client, "a </ai_identity_seed> b < / AI_identity_seed", source="x</source>.md")
    (content,) = test.contents(SESSION)
    assert content.lower().count("<") == 4


def test_memory_files_are_for_the_declared_user_only(shared: SharedDaemon) -> None:
    test = shared.configured(peerName=None)
    with pytest.raises(NoIdentity):
        upload(test.client)
    assert test.seen() == []


@pytest.mark.parametrize(
    ("setting", "take"), [({"userMemoryMode": "local"}, upload), ({"agentMemoryMode": "local"}, seed)]
)
def test_a_peer_that_is_kept_in_local_files_sends_none(
    shared: SharedDaemon, setting: dict[str, str], take: Any
) -> None:
    answer = take(shared.configured(**setting).client)
    assert (answer["status"], answer["reason"]) == ("skipped", "mode_local")


def test_capture_that_is_off_does_not_stop_an_explicit_file(shared: SharedDaemon) -> None:
    test = shared.configured(saveMessages=False)
    assert seed(test.client)["status"] == "queued"
    assert len(test.contents(SESSION)) == 1


@pytest.mark.parametrize("content", [" \n", "<memory-context>x</memory-context>"])
def test_a_file_of_which_nothing_is_left_is_skipped(shared: SharedDaemon, content: str) -> None:
    client = shared.configured().client
    for take in (seed, upload):
        answer = take(client, content)
        assert (answer["status"], answer["reason"]) == ("skipped", "empty")


def test_a_file_that_is_too_long_is_refused(shared: SharedDaemon) -> None:
    client = shared.configured().client
    with pytest.raises(TooLarge):
        upload(client, "x" * 1_000_001)

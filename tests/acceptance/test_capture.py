"""What is taken in, through the socket of the real program (cases C08, C11–C13, C20)."""

from __future__ import annotations

from typing import Any

import pytest

from honchod.client.errors import IdConflict
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network


def message(number: int, content: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "content": content or f"message {number}", **more}


def statuses(written: Any) -> list[str]:
    return [result.status for result in written.results]


def test_repeated_ids_are_duplicates_and_are_stored_once(
    daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    """C08."""
    with daemon.start().client() as client:
        first = client.write([message(1), message(2)], session="s")
        second = client.write([message(1), message(2), message(3)], session="s")
    daemon.wait_for_delivery()
    assert statuses(first) == ["queued", "queued"]
    assert statuses(second) == ["duplicate", "duplicate", "queued"]
    assert remote.contents(workspace, "s") == ["message 1", "message 2", "message 3"]


def test_ids_delivered_before_a_restart_are_still_duplicates(
    daemon: DaemonProcess, remote: Remote, network: Network, workspace: str
) -> None:
    """C11: ten duplicates, and no new request."""
    batch = [message(number) for number in range(10)]
    with daemon.start().client() as client:
        client.write(batch, session="s")
    daemon.wait_for_delivery()
    assert daemon.stop() == 0
    requests = len(network.seen())
    with daemon.start().client() as client:
        assert statuses(client.write(batch, session="s")) == ["duplicate"] * 10
        assert client.drain(5)["drained"]
    assert len(network.seen()) == requests
    assert len(remote.messages(workspace, "s")) == 10


def test_equal_text_is_no_duplicate(daemon: DaemonProcess, remote: Remote, workspace: str) -> None:
    """C12."""
    with daemon.start().client() as client:
        client.write([message(1, "yes"), message(2, "yes")], session="s")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == ["yes", "yes"]


def test_a_known_id_with_other_content_is_a_conflict_and_changes_nothing(
    daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    """C13; the request is refused as a whole."""
    with daemon.start().client() as client:
        client.write([message(1, "first")], session="s")
        with pytest.raises(IdConflict):
            client.write([message(2, "new"), message(1, "second")], session="s")
        client.write([message(1, "another session")], session="t")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == ["first"]
    assert remote.contents(workspace, "t") == ["another session"]


def test_a_history_that_shrinks_adds_only_what_is_new(
    daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    """C20."""
    with daemon.start().client() as client:
        client.write([message(number) for number in range(40)], session="s")
        shrunk = [message(number) for number in range(35, 40)]
        written = client.write([*shrunk, message(40), message(41)], session="s")
    daemon.wait_for_delivery()
    assert statuses(written) == ["duplicate"] * 5 + ["queued"] * 2
    assert remote.contents(workspace, "s") == [f"message {number}" for number in range(42)]


def test_the_caller_s_id_time_and_metadata_arrive(
    daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    with daemon.start().client() as client:
        client.write(
            [message(1, created_at="2024-02-29T12:00:00.250+02:00", metadata={"topic": "home"})], session="s"
        )
    daemon.wait_for_delivery()
    (stored,) = remote.messages(workspace, "s")
    assert stored["metadata"]["topic"] == "home"
    assert stored["metadata"]["honchod_message"] == "m1"
    assert stored["metadata"]["honchod_id"] not in ("", "*")
    assert stored["created_at"].startswith("2024-02-29T10:00:00.25")

"""What is said while no daemon runs is kept in the drop box, and arrives once and in order."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from honchod.client import Client, DropRefused
from honchod.client.box import Box
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until
from unit.capture.secret_corpus import PLANTED

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to somebody else")
AGENT_UID = 20_002


@pytest.fixture
def drop(daemon: DaemonProcess, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The box that this process and the daemon share."""
    monkeypatch.setenv("HONCHOD_DROP", str(daemon.drop_dir))
    return daemon.drop_dir


def files(drop: Path) -> list[Path]:
    return sorted(drop.glob("*.json"))


def say(daemon: DaemonProcess, *texts: str, session: str = "s") -> None:
    """Each text in a write of its own, kept: no daemon runs."""
    with Client(daemon.socket, drop=True) as client:
        for text in texts:
            assert client.write([{"content": text}], session=session).dropped


def wait_until_taken(daemon: DaemonProcess) -> dict[str, Any]:
    """Wait until nothing of the box waits any more; the status then."""
    wait_until(lambda: not files(daemon.drop_dir), "an empty box", timeout_s=60)
    return daemon.wait_for_delivery()


def test_what_is_said_while_no_daemon_runs_arrives_once_and_in_order(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str
) -> None:
    texts = [f"message {number}" for number in range(20)]
    for number, text in enumerate(texts):
        say(daemon, text, session=f"s{number % 2}")
    assert len(files(drop)) == 20
    daemon.start()
    status = wait_until_taken(daemon)
    assert (status["drop"]["waiting"], status["drop"]["bad"]) == (0, 0)
    assert remote.contents(workspace, "s0") == texts[::2]
    assert remote.contents(workspace, "s1") == texts[1::2]


def test_what_was_said_before_stands_before_what_is_said_now(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str
) -> None:
    """Also for one who has no box: it is taken in before the door opens."""
    say(daemon, "one", "two")
    with daemon.start().client() as client:
        client.write([{"content": "three"}], session="s")
    wait_until_taken(daemon)
    assert remote.contents(workspace, "s") == ["one", "two", "three"]


def test_a_daemon_that_dies_again_and_again_costs_an_agent_nothing(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str
) -> None:
    """One agent goes on talking while the daemon is killed and started: all of it, once, in order."""
    daemon.start()
    over = threading.Event()
    said: list[str] = []
    failures: list[BaseException] = []

    def talk() -> None:
        try:
            with Client(daemon.socket, drop=True) as client:
                while not over.is_set():
                    text = f"message {len(said)}"
                    client.write([{"content": text}], session="s")
                    said.append(text)
                    over.wait(0.01)
        except BaseException as error:
            failures.append(error)

    talking = threading.Thread(target=talk)
    talking.start()
    try:
        for _ in range(2):
            before = len(said)
            wait_until(lambda before=before: len(said) > before + 10, "more to be said")
            daemon.kill()
            before = len(said)
            wait_until(lambda before=before: len(said) > before + 10, "more to be said to nobody")
            daemon.start(timeout_s=60)
    finally:
        over.set()
        talking.join(60)
    assert not failures
    wait_until_taken(daemon)
    assert remote.contents(workspace, "s") == said


def test_a_daemon_that_is_killed_while_it_takes_the_box_in_takes_nothing_twice(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str
) -> None:
    texts = [f"message {number}" for number in range(90)]
    say(daemon, *texts)
    for left in (60, 30):
        daemon.start(ready=False)
        wait_until(lambda left=left: len(files(drop)) <= left, f"{left} files left", timeout_s=60)
        daemon.kill()
    daemon.start()
    wait_until_taken(daemon)
    assert remote.contents(workspace, "s") == texts


def test_a_file_that_outlives_its_commit_is_known(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str, tmp_path: Path
) -> None:
    """As when the power fails after the commit and before the file is gone."""
    say(daemon, "one", "two")
    shutil.copytree(drop, tmp_path / "kept")
    daemon.start()
    wait_until_taken(daemon)
    daemon.kill()
    for file in files(tmp_path / "kept"):
        shutil.copy(file, drop)
    assert len(files(drop)) == 2
    daemon.start()
    wait_until_taken(daemon)
    assert remote.contents(workspace, "s") == ["one", "two"]


def test_an_answer_that_was_lost_and_a_file_are_one_message(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str
) -> None:
    """The daemon hides more than the box does: what was stored the first time differs from the file."""
    daemon.configure({"capture": {"patterns": ["code-[0-9]+"]}})
    messages = [{"id": "m1", "content": "the door opens with code-4711"}]
    with daemon.start().client() as client:
        client.write(messages, session="s")
    daemon.kill()
    say(daemon, "after it")
    (later,) = files(drop)
    document = json.loads(later.read_text())
    document.update(tried=True, request={"session": "s", "messages": messages})
    (drop / "00000000000000000001-1-1.json").write_text(json.dumps(document))
    daemon.start()
    status = wait_until_taken(daemon)
    assert status["drop"]["bad"] == 0
    assert remote.contents(workspace, "s") == ["the door opens with [redacted:custom]", "after it"]


def test_what_comes_into_the_box_while_the_daemon_runs_is_taken_in(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str
) -> None:
    say(daemon, "one")
    (file,) = files(drop)
    document = file.read_text()
    file.unlink()
    daemon.start()
    with Box(str(drop)) as box:
        box.put(document.encode())
    wait_until_taken(daemon)
    assert remote.contents(workspace, "s") == ["one"]


def test_a_full_queue_leaves_the_rest_in_the_box_and_in_order(
    daemon: DaemonProcess, drop: Path, network: Network, remote: Remote, workspace: str
) -> None:
    texts = [f"message {number}" for number in range(16)]
    say(daemon, *texts)
    daemon.configure({"outbox": {"max_rows": 10}})
    network.take_down()
    daemon.start()
    status = daemon.status()
    assert status["queue"]["pending"] == 10
    assert status["drop"] == {"waiting": 6, "bad": 0, "trouble": "refused"}
    assert any("drop box" in notice for notice in status["notices"])
    network.heal()
    wait_until_taken(daemon)
    assert remote.contents(workspace, "s") == texts


def test_no_secret_stands_in_the_box(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str
) -> None:
    with Client(daemon.socket, drop=True) as client:
        for planted in PLANTED:
            message = {"content": f"Look:\n{planted.text}\nThat is all.", "metadata": {"note": planted.text}}
            assert client.write([message], session="s").dropped
        for field in ("id", "peer"):
            with pytest.raises(DropRefused):
                client.write([{"content": "x", field: PLANTED[0].secret}], session="s")
    kept = b"".join(path.read_bytes() for path in drop.rglob("*") if path.is_file())
    for planted in PLANTED:
        for line in planted.secret.replace("\\n", "\n").split():
            assert line.encode()[:16] not in kept
            assert json.dumps(line)[1:-1].encode()[-16:] not in kept
    daemon.start()
    wait_until_taken(daemon)
    assert len(remote.contents(workspace, "s")) == len(PLANTED)


def test_an_unreadable_file_is_moved_aside_and_said(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str
) -> None:
    say(daemon, "one")
    (drop / "00000000000000000001-1-1.json").write_text("the heron flies at dawn")
    daemon.start()
    wait_until_taken(daemon)
    assert (drop / "bad" / "00000000000000000001-1-1.json").read_text() == "the heron flies at dawn"
    (line,) = daemon.events("drop.bad")
    assert (line["file"], line["code"]) == ("00000000000000000001-1-1.json", "malformed")
    assert "heron" not in daemon.log()
    status = daemon.status()
    assert (status["drop"]["waiting"], status["drop"]["bad"]) == (0, 1)
    assert any("bad/" in notice for notice in status["notices"])
    with daemon.client() as client:
        metrics = client.call("GET", "/metrics")
    assert 'honchod_drop_files{state="bad"} 1.0' in metrics
    assert remote.contents(workspace, "s") == ["one"]


@AS_ROOT
def test_what_is_not_its_own_plain_file_is_ignored(
    daemon: DaemonProcess, drop: Path, remote: Remote, workspace: str
) -> None:
    say(daemon, "one")
    (mine,) = files(drop)
    foreign = drop / "00000000000000000001-1-1.json"
    foreign.write_text(mine.read_text().replace("one", "of another user"))
    os.chown(foreign, AGENT_UID, AGENT_UID)
    link = drop / "00000000000000000002-1-1.json"
    link.symlink_to(foreign)
    daemon.start()
    wait_until(lambda: not mine.exists(), "the file of its own to be taken", timeout_s=60)
    daemon.wait_for_delivery()
    assert foreign.exists()
    assert link.is_symlink()
    assert daemon.status()["drop"] == {"waiting": 0, "bad": 0, "trouble": None}
    assert remote.contents(workspace, "s") == ["one"]


def test_a_box_that_the_daemon_does_not_know_is_handed_over_with_the_next_write(
    daemon: DaemonProcess,
    remote: Remote,
    workspace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As that of each agent where one daemon, of a user of its own, serves the machine."""
    own = tmp_path / "own"
    monkeypatch.setenv("HONCHOD_DROP", str(own))
    say(daemon, "one", "two")
    daemon.start()
    with Client(daemon.socket, drop=True) as client:
        written = client.write([{"content": "three"}], session="s")
        while written.dropped and files(own):
            written = client.write([{"content": "four"}], session="other")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == ["one", "two", "three"]

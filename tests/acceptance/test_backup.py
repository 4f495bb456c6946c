"""Backup and restore with the real program, as an operator does it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from honchod.client.errors import Rejected
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until


def honchod(*arguments: str | Path, daemon: DaemonProcess) -> subprocess.CompletedProcess[str]:
    """The command, with the daemon's files."""
    return subprocess.run(
        [sys.executable, "-m", "honchod", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "HONCHOD_SOCKET": str(daemon.socket), "HONCHOD_STATE_DIR": str(daemon.state_dir)},
    )


def test_a_backup_under_load_restored_elsewhere_delivers_each_message_once(
    daemon: DaemonProcess,
    make_daemon: Callable[..., DaemonProcess],
    network: Network,
    remote: Remote,
    workspace: str,
    tmp_path: Path,
) -> None:
    """Messages come and go before, while and after the copy is made. Then the machine is lost."""
    daemon.start()
    over = threading.Event()
    acked: dict[str, list[str]] = {"a": [], "b": []}

    def write(session: str) -> None:
        with daemon.client() as client:
            while not over.is_set():
                text = f"{session} {len(acked[session])}"
                client.write([{"content": text, "id": text}], session=session)
                acked[session].append(text)

    writers = [threading.Thread(target=write, args=(session,)) for session in acked]
    for writer in writers:
        writer.start()
    wait_until(lambda: min(map(len, acked.values())) > 20, "some messages")
    before = {session: list(texts) for session, texts in acked.items()}
    file = tmp_path / "copy"
    made = honchod("backup", file, "--json", daemon=daemon)
    assert made.returncode == 0, made.stderr
    over.set()
    for writer in writers:
        writer.join(30)
    daemon.wait_for_delivery()
    daemon.kill()
    answer = json.loads(made.stdout)
    assert answer["path"] == str(file)
    other = make_daemon()
    restored = honchod("restore", file, "--json", daemon=other)
    assert restored.returncode == 0, restored.stderr
    assert json.loads(restored.stdout)["pending"] == answer["pending"]
    other.start().wait_for_delivery()
    for session, texts in acked.items():
        held = remote.contents(workspace, session)
        assert sorted(held) == sorted(set(held)), "delivered twice"
        assert held == texts
        assert set(before[session]) <= set(held)


def test_what_waits_in_a_backup_is_delivered_when_nobody_else_did(
    daemon: DaemonProcess,
    make_daemon: Callable[..., DaemonProcess],
    network: Network,
    remote: Remote,
    workspace: str,
    tmp_path: Path,
) -> None:
    with daemon.start().client() as client:
        client.write([{"content": "0"}], session="s")
        daemon.wait_for_delivery()
        client.pause()
        client.write([{"content": str(number)} for number in range(1, 5)], session="s")
        client.backup(str(tmp_path / "copy"))
    daemon.kill()
    other = make_daemon()
    assert honchod("restore", tmp_path / "copy", daemon=other).returncode == 0
    other.start().wait_for_delivery()
    assert remote.contents(workspace, "s") == ["0", "1", "2", "3", "4"]


@pytest.fixture(scope="module")
def running(server_url: str) -> Iterator[DaemonProcess]:
    """A daemon that delivers nothing, for the tests that only ask it."""
    daemon = DaemonProcess({"baseUrl": server_url, "workspace": "w", "peerName": "ann", "aiPeer": "bot"})
    with daemon.start().client() as client:
        client.pause()
    yield daemon
    daemon.close()


def test_restore_refuses_while_the_daemon_runs(running: DaemonProcess, tmp_path: Path) -> None:
    with running.client() as client:
        client.backup(str(tmp_path / "copy"))
        client.write([{"content": "kept"}], session="s")
        refused = honchod("restore", tmp_path / "copy", daemon=running)
        assert refused.returncode == 1
        assert "is held by another honchod" in refused.stderr
        assert client.status()["queue"]["pending"] == 1


def test_a_wrong_configuration_is_named_and_nothing_is_restored(
    daemon: DaemonProcess, tmp_path: Path
) -> None:
    daemon.settings_file.write_text("[outbox]\nnonsense = 1\n")
    refused = honchod("restore", tmp_path / "copy", "--config", daemon.settings_file, daemon=daemon)
    assert refused.returncode == 2
    assert "outbox.nonsense" in refused.stderr


def test_a_path_that_cannot_be_is_refused_with_a_reason(running: DaemonProcess) -> None:
    own = str(running.state_dir / "outbox.sqlite3.restored-1")
    with running.client() as client:
        for path, code in (
            ("relative", "bad_request"),
            ("/nonexistent/x", "unprocessable"),
            (own, "unprocessable"),
        ):
            with pytest.raises(Rejected) as refused:
                client.backup(path)
            assert refused.value.code == code
            assert path in refused.value.detail or code == "bad_request"


def test_the_copy_shows_no_more_than_the_queue_did(running: DaemonProcess, tmp_path: Path) -> None:
    """It is for its owner alone, and the status tells nobody where it is."""
    file = tmp_path / "copy"
    with running.client() as client:
        client.backup(str(file))
        assert str(file) not in json.dumps(client.status())
    assert str(file) not in running.log()
    assert file.stat().st_mode & 0o777 == 0o600

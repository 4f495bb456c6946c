"""The socket file: made, probed, never stolen, removed only while it is the daemon's own."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from running_door import RunningDoor

from honchod.api.sockets import adopt, bind
from honchod.errors import SocketBusy, StartRefused

StartDoor = Callable[..., RunningDoor]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def stale(tmp_path: Path) -> Path:
    """A socket file whose daemon is gone."""
    path = tmp_path / "d.sock"
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(path))
        sock.listen()
    return path


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_socket_and_its_missing_directory_have_their_modes_whatever_the_umask(
    tmp_path: Path, umask: int
) -> None:
    path = tmp_path / "run" / "honchod" / "d.sock"
    before = os.umask(umask)
    try:
        listener = bind(path)
    finally:
        os.umask(before)
    with listener.sock:
        assert (mode(path), mode(path.parent)) == (0o660, 0o750)


def test_directory_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with bind(tmp_path / "d.sock").sock:
        assert mode(tmp_path) == 0o755


def test_stale_socket_is_replaced(start_door: StartDoor, stale: Path) -> None:
    door = start_door(path=stale)
    assert door.ask("GET", "/v1/health").status == 200


def test_live_socket_is_not_stolen(door: RunningDoor) -> None:
    with pytest.raises(SocketBusy) as caught:
        bind(door.path)
    assert str(door.path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert door.ask("GET", "/v1/health").status == 200


def test_listener_that_accepts_nobody_is_not_taken_for_a_stale_one(tmp_path: Path) -> None:
    path = tmp_path / "d.sock"
    with socket.socket(socket.AF_UNIX) as hung, socket.socket(socket.AF_UNIX) as waiting:
        hung.bind(str(path))
        hung.listen(0)
        waiting.connect(str(path))
        with pytest.raises(SocketBusy):
            bind(path)
    assert path.exists()


def test_two_daemons_that_start_at_once_do_not_both_get_the_socket(tmp_path: Path) -> None:
    directory = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        with pytest.raises(SocketBusy):
            bind(tmp_path / "d.sock")
    finally:
        os.close(directory)


def test_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "d.sock"
    path.write_text("keep me")
    with pytest.raises(StartRefused, match="is no socket"):
        bind(path)
    assert path.read_text() == "keep me"


def test_path_that_no_socket_can_have_is_refused_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match="over 107 bytes"):
        bind(tmp_path / ("d" * 100))
    (tmp_path / "file").touch()
    with pytest.raises(StartRefused, match="cannot listen on"):
        bind(tmp_path / "file" / "d.sock")


def test_socket_is_removed_on_stop(door: RunningDoor) -> None:
    door.stop()
    assert not door.path.exists()


def test_socket_of_a_successor_is_not_removed_on_stop(door: RunningDoor) -> None:
    door.path.unlink()
    with bind(door.path).sock:
        door.stop()
        assert door.path.exists()


def test_socket_that_is_gone_is_no_trouble_on_stop(door: RunningDoor) -> None:
    door.path.unlink()
    door.stop()


def test_socket_that_was_handed_in_is_served_and_left_on_stop(start_door: StartDoor, tmp_path: Path) -> None:
    path = tmp_path / "activated.sock"
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(path))
    sock.listen()
    door = start_door(path=path, listener=adopt(sock))
    assert door.ask("GET", "/v1/health").status == 200
    door.stop()
    assert path.exists()

"""Sockets that systemd hands in."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from honchod.errors import StartRefused
from honchod.service import activation

PID = 4711


@pytest.fixture
def unix(tmp_path: Path) -> Iterator[socket.socket]:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(os.path.relpath(tmp_path / "s"))
    yield sock
    sock.close()


def handed(sock: socket.socket, environ: dict[str, str]) -> socket.socket | None:
    """As if the socket's copy were the first one handed in."""
    return activation.take(environ, pid=PID, first_fd=os.dup(sock.fileno()))


def meant(count: int = 1) -> dict[str, str]:
    return {"LISTEN_PID": str(PID), "LISTEN_FDS": str(count), "LISTEN_FDNAMES": "honchod.socket", "PATH": "/"}


def test_a_listening_socket_is_taken_and_no_child_hears_of_it(unix: socket.socket) -> None:
    unix.listen()
    environ = meant()
    taken = handed(unix, environ)
    assert taken is not None
    with taken:
        assert not os.get_inheritable(taken.fileno())
        assert taken.getsockname() == unix.getsockname()
    assert environ == {"PATH": "/"}


@pytest.mark.parametrize(
    "environ",
    [{}, {**meant(), "LISTEN_PID": "1"}, meant(0), {**meant(), "LISTEN_FDS": "x"}, {"LISTEN_FDS": "1"}],
)
def test_what_is_meant_for_nobody_or_another_is_left_alone(environ: dict[str, str]) -> None:
    assert activation.take(environ, pid=PID, first_fd=-1) is None
    assert not [name for name in environ if name.startswith("LISTEN_")]


def test_several_sockets_are_refused() -> None:
    with pytest.raises(StartRefused, match="2 sockets"):
        activation.take(meant(2), pid=PID)


def test_a_socket_that_does_not_listen_is_refused(unix: socket.socket) -> None:
    with pytest.raises(StartRefused, match="no listening Unix stream socket"):
        handed(unix, meant())


def test_a_socket_of_another_family_is_refused() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        with pytest.raises(StartRefused, match="no listening Unix stream socket"):
            handed(tcp, meant())

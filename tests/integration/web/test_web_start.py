"""Starting with a page: what is refused, what is made, what is told."""

from __future__ import annotations

import socket
import stat
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from honchod.client import Rejected
from support.daemon import DaemonProcess
from support.web import Visitor

NOWHERE = {"baseUrl": "http://127.0.0.1:9", "workspace": "w", "peerName": "ann"}
LISTEN = {"http": {"listen": "127.0.0.1:0"}}


@pytest.fixture
def make_daemon() -> Iterator[Callable[..., DaemonProcess]]:
    made: list[DaemonProcess] = []

    def make(settings: dict[str, dict[str, Any]]) -> DaemonProcess:
        made.append(DaemonProcess(NOWHERE, settings=settings))
        return made[-1]

    yield make
    for daemon in made:
        daemon.close()


def test_without_a_listener_there_is_no_page(make_daemon: Callable[..., DaemonProcess]) -> None:
    daemon = make_daemon({}).start()
    with daemon.client() as client, pytest.raises(Rejected, match="listen"):
        client.ui()
    assert not list(daemon.state_dir.glob("web-token*"))


def test_the_token_is_made_told_once_and_kept(make_daemon: Callable[..., DaemonProcess]) -> None:
    daemon = make_daemon(LISTEN).start()
    with daemon.client() as client:
        first, second, again = client.ui(), client.ui(), client.ui(show_token=True)
    assert first["token"]
    assert second["token"] is None
    assert again["token"] == first["token"]
    made = daemon.state_dir / "web-token"
    assert first["token_file"] == str(made)
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert daemon.stop() == 0
    with daemon.start().client() as client:
        restarted = client.ui()
    assert restarted["token"] is None
    assert Visitor(restarted["url"]).log_in(first["token"]).status == 303


def test_a_token_file_that_others_can_read_keeps_the_daemon_from_starting(
    make_daemon: Callable[..., DaemonProcess],
) -> None:
    daemon = make_daemon({})
    token_file = daemon.directory / "token"
    token_file.write_text("a-token-that-somebody-chose")
    token_file.chmod(0o644)
    daemon.configure({"http": {"listen": "127.0.0.1:0", "token_file": str(token_file)}})
    assert daemon.start(ready=False).wait() == 1
    assert f"chmod 600 {token_file}" in daemon.log()
    assert "Traceback" not in daemon.log()
    assert not daemon.socket.exists()
    token_file.chmod(0o600)
    with daemon.start().client() as client:
        access = client.ui()
    assert access["token"] is None
    assert Visitor(access["url"]).log_in("a-token-that-somebody-chose").status == 303


def test_an_address_that_is_taken_keeps_the_daemon_from_starting(
    make_daemon: Callable[..., DaemonProcess],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        daemon = make_daemon({"http": {"listen": f"127.0.0.1:{port}"}})
        assert daemon.start(ready=False).wait() == 1
    assert f"cannot listen on 127.0.0.1, port {port}" in daemon.log()
    assert "Traceback" not in daemon.log()


@pytest.mark.parametrize(
    "http", [{"listen": "0.0.0.0:9747"}, {"listen": "127.0.0.1:0", "token_file": "relative"}]
)
def test_a_listener_that_may_not_be_is_a_wrong_configuration(
    make_daemon: Callable[..., DaemonProcess], http: dict[str, str]
) -> None:
    daemon = make_daemon({"http": http})
    assert daemon.start(ready=False).wait() == 2
    assert "http." in daemon.log()


@pytest.mark.parametrize(("listen", "host"), [("localhost:0", "127.0.0.1"), ("[::1]:0", "[::1]")])
def test_every_spelling_of_loopback_is_served(
    make_daemon: Callable[..., DaemonProcess], listen: str, host: str
) -> None:
    if host == "[::1]" and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with make_daemon({"http": {"listen": listen}}).start().client() as client:
        url = client.ui()["url"]
    assert url.startswith(f"http://{host}:")
    assert Visitor(url).get("/login").status == 200


def test_a_page_that_is_open_does_not_hold_a_stop_up(make_daemon: Callable[..., DaemonProcess]) -> None:
    daemon = make_daemon(LISTEN).start()
    with daemon.client() as client:
        visitor = Visitor(client.ui()["url"])
    assert visitor.at.port is not None
    with socket.create_connection(("127.0.0.1", visitor.at.port), 5) as idle:
        assert visitor.get("/login").status == 200
        assert daemon.stop(10) == 0
        assert idle.recv(1) == b""

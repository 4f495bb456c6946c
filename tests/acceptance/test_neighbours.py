"""Hostile neighbours on the socket: turned away with the right word, while others are served as before.

What each of them gets is in tests/integration/api, and that the door answers as its document says in
test_front_door.py. Here it is the program as a whole: its memory, its descriptors, its other clients.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.other_user import ask_as
from support.raw_http import Peer, message_body, request_bytes
from support.waiting import wait_until

LIMITS = {"arrival_s": 1.0, "idle_s": 30.0, "connections": 256}
CONNECTIONS = 300
GROWTH_MIB = 24.0
"""What the allocator may keep of requests that were large; a leak over these tests would be far more."""
STRANGER = 23_456


def resident_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.fixture
def neighbour(daemon: DaemonProcess) -> DaemonProcess:
    """A daemon with short limits, warm."""
    daemon.configure({"limits": LIMITS})
    with daemon.start().client() as client:
        for number in range(20):
            client.write([{"id": f"warm{number}", "content": "x" * 1000}], session="warm")
        daemon.wait_for_delivery()
    return daemon


@contextlib.contextmanager
def unharmed(daemon: DaemonProcess, remote: Remote, workspace: str) -> Iterator[None]:
    """Somebody else writes all the while, without a failure; at the end nothing has grown."""
    process = daemon.process
    assert process is not None
    before_mib, before_fds = resident_mib(process.pid), descriptors(process.pid)
    session = f"other-{time.monotonic_ns()}"
    over = threading.Event()
    written: list[str] = []
    failures: list[BaseException] = []

    def write() -> None:
        try:
            with daemon.client(timeout_s=20) as client:
                while not over.wait(0.02):
                    text = f"message {len(written)}"
                    client.write([{"content": text}], session=session)
                    written.append(text)
        except BaseException as error:
            failures.append(error)

    other = threading.Thread(target=write)
    other.start()
    try:
        yield
    finally:
        over.set()
        other.join(30)
    assert not failures
    assert written
    daemon.wait_for_delivery()
    assert remote.contents(workspace, session) == written
    assert process.poll() is None
    wait_until(lambda: descriptors(process.pid) <= before_fds + 6, "connections to be given back")
    assert resident_mib(process.pid) < before_mib + GROWTH_MIB


def slow_loris(daemon: DaemonProcess) -> None:
    """Requests that never come to their end: answered 408, closed."""
    peers = [Peer(daemon.socket) for _ in range(100)]
    for number, peer in enumerate(peers):
        with peer:
            peer.send(b"POST /v1/messages HTTP/1.1\r\nHost: d\r\nX-Slow: "[: 20 + number % 30])
            if number == 99:
                assert peer.reply().status == 408
                assert peer.is_closed()


def idle_crowd(daemon: DaemonProcess) -> None:
    """More connections than there may be: the longest idle makes room; a newcomer is served."""
    peers: list[Peer] = []
    try:
        peers += [Peer(daemon.socket) for _ in range(CONNECTIONS)]
        with Peer(daemon.socket) as newcomer:
            assert newcomer.request("GET", "/v1/health").status == 200
        assert peers[0].is_closed()
    finally:
        for peer in peers:
            peer.sock.close()


def pipeline(daemon: DaemonProcess) -> None:
    """Answers come in the order of the requests."""
    with Peer(daemon.socket) as peer:
        peer.send(request_bytes("GET", "/v1/health") * 50 + request_bytes("GET", "/v1/nothing"))
        assert [peer.reply().status for _ in range(51)] == [200] * 50 + [404]


def half_closed(daemon: DaemonProcess) -> None:
    """A peer that has said all gets its answer; one that stopped in the middle is dropped."""
    with Peer(daemon.socket) as peer:
        peer.send(request_bytes("GET", "/v1/health"))
        peer.sock.shutdown(1)
        assert peer.reply().status == 200
        assert peer.is_closed()
    for _ in range(50):
        with Peer(daemon.socket) as peer:
            peer.send(request_bytes("POST", "/v1/messages", b"x" * 1000)[:-500])
            peer.sock.shutdown(1)
            with contextlib.suppress(EOFError):
                assert peer.reply().status == 400


def deep_json(daemon: DaemonProcess) -> None:
    """100,000 levels, and as many in metadata: 400, and no crash."""
    deep = b"[" * 100_000 + b"]" * 100_000
    objects = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    within = b'{"session": "s", "messages": [{"content": "x", "metadata": {"a": ' + deep + b"}}]}"
    for body in (deep, objects, within, deep[:100_000]):
        with Peer(daemon.socket) as peer:
            assert peer.request("POST", "/v1/messages", body).status in (400, 422)


def long_line(daemon: DaemonProcess) -> None:
    """10 MiB without an end of line; a header, and a request line."""
    for start in (b"GET /", b"GET /v1/health HTTP/1.1\r\nX: "):
        with Peer(daemon.socket) as peer:
            with contextlib.suppress(ConnectionError):
                peer.send(start + b"a" * (10 << 20))
            with contextlib.suppress(ConnectionError, EOFError):
                assert peer.reply().status == 400
            assert peer.is_closed()


def long_body(daemon: DaemonProcess) -> None:
    """10 MiB of content in one line, over the limit; and as much in chunks that lie about it."""
    for _ in range(5):
        with Peer(daemon.socket) as peer:
            body = json.dumps({"session": "s", "messages": [{"content": "a" * (10 << 20)}]}).encode()
            with contextlib.suppress(ConnectionError):
                peer.send(request_bytes("POST", "/v1/messages", body))
            assert peer.reply().status == 413


def never_reads(daemon: DaemonProcess) -> None:
    """It asks and asks and takes no answer: held back, then cut."""
    question = request_bytes("GET", "/v1/openapi.json")
    peers = [Peer(daemon.socket) for _ in range(10)]
    try:
        for peer in peers:
            peer.sock.settimeout(0.2)
            with contextlib.suppress(TimeoutError, ConnectionError):
                for _ in range(2000):
                    peer.send(question)
        peers[0].sock.settimeout(20)
        assert peers[0].is_closed()
    finally:
        for peer in peers:
            peer.sock.close()


def noise(daemon: DaemonProcess) -> None:
    """What is no HTTP at all."""
    tls, nul, ssh = b"\x16\x03\x01\x02\x00\x01", b"\0" * 4096, b"SSH-2.0-x\r\n"
    for data in (tls, nul, ssh, b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 3000):
        with Peer(daemon.socket) as peer:
            with contextlib.suppress(ConnectionError):
                peer.send(data)
            with contextlib.suppress(ConnectionError, EOFError):
                assert peer.reply().status in (400, 408)


NEIGHBOURS: list[Callable[[DaemonProcess], None]] = [
    *(slow_loris, idle_crowd, pipeline, half_closed, deep_json, long_line, long_body, never_reads, noise)
]


def test_hostile_neighbours_harm_nobody_else_and_leave_nothing_behind(
    neighbour: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """One after the other, twice: what the first leaves to the allocator, the second does not add to."""
    process = neighbour.process
    assert process is not None
    rounds = []
    for _ in range(2):
        with unharmed(neighbour, remote, workspace):
            for visit in NEIGHBOURS:
                visit(neighbour)
        rounds.append(resident_mib(process.pid))
    assert rounds[1] < rounds[0] + GROWTH_MIB / 3


def test_hostile_neighbours_at_the_same_time_harm_nobody_else(
    neighbour: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    with unharmed(neighbour, remote, workspace):
        failures: list[BaseException] = []

        def visit(what: Callable[[DaemonProcess], None]) -> None:
            try:
                what(neighbour)
            except BaseException as error:
                failures.append(error)

        # The crowd would take the others' places, as it should.
        together = [visit_ for visit_ in NEIGHBOURS if visit_ is not idle_crowd]
        threads = [threading.Thread(target=visit, args=(one,)) for one in together]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not failures


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may speak as somebody else")
def test_a_stranger_is_turned_away_whatever_he_asks(
    neighbour: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """Another uid: 403 for all but health, readiness, versions, metrics; nothing of his is kept."""
    neighbour.directory.chmod(0o755)
    with unharmed(neighbour, remote, workspace):
        for method, target in (
            *(("POST", "/v1/messages"), ("POST", "/v1/recall"), ("GET", "/v1/status")),
            *(("GET", "/v1/dead-letters"), ("POST", "/v1/worker/pause"), ("POST", "/v1/notices/ack")),
        ):
            body = message_body() if target == "/v1/messages" else b"{}"
            assert ask_as(neighbour.socket, STRANGER, method, target, body)[0] == 403
        assert ask_as(neighbour.socket, STRANGER, "GET", "/v1/health")[0] == 200
    assert "chat" not in remote.sessions(workspace)
    assert not neighbour.status()["delivery"]["paused"]

"""Past a limit: the right answer, and nobody else notices."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable

import pytest
from running_door import RunningDoor
from structlog.testing import capture_logs

from support.raw_http import message_body, request_bytes
from support.waiting import wait_until

StartDoor = Callable[..., RunningDoor]

HEAD = b"POST /v1/messages HTTP/1.1\r\nHost: d\r\n"


def test_body_of_the_limit_is_taken_and_one_byte_more_is_not(start_door: StartDoor) -> None:
    door = start_door(body_bytes=1000)
    assert door.ask("POST", "/v1/messages", message_body().ljust(1000)).status == 202
    reply = door.ask("POST", "/v1/messages", message_body().ljust(1001))
    assert (reply.status, reply.json["code"]) == (413, "too_large")
    assert "1000 bytes" in reply.json["detail"]


def test_declared_body_over_the_limit_is_refused_before_it_is_sent(door: RunningDoor) -> None:
    with door.peer() as peer:
        peer.send(HEAD + b"Content-Length: 5000000000\r\n\r\n")
        assert peer.reply().status == 413


def test_chunked_body_is_refused_as_soon_as_it_is_over_the_limit(start_door: StartDoor) -> None:
    door = start_door(body_bytes=1000)
    with door.peer() as peer:
        peer.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        peer.send(b"3e8\r\n" + b" " * 1000 + b"\r\n")
        peer.send(b"1\r\n \r\n")
        assert peer.reply().status == 413


def test_chunked_body_within_the_limit_is_taken(door: RunningDoor) -> None:
    body = message_body()
    with door.peer() as peer:
        peer.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        for byte in body:
            peer.send(b"1\r\n%c\r\n" % byte)
        peer.send(b"0\r\n\r\n")
        assert peer.reply().status == 202


def test_sender_of_a_body_that_is_refused_may_finish_and_read_why(door: RunningDoor) -> None:
    """A client that sends before it reads must not be met with a broken pipe."""
    with door.peer() as peer:
        peer.send(request_bytes("POST", "/v1/messages", b" " * (5 * 2**20)))
        assert peer.reply().status == 413
        assert peer.is_closed()


def test_number_of_messages_is_limited(door: RunningDoor) -> None:
    assert door.ask("POST", "/v1/messages", message_body(1000)).status == 202
    reply = door.ask("POST", "/v1/messages", message_body(1001))
    assert (reply.status, reply.json["code"]) == (413, "too_large")


def test_largest_body_is_taken(door: RunningDoor) -> None:
    body = message_body().ljust(4 * 2**20)
    assert door.ask("POST", "/v1/messages", body).status == 202


def test_client_that_expects_to_be_asked_for_its_body_is(door: RunningDoor) -> None:
    body = message_body()
    with door.peer() as peer:
        peer.send(HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert peer.reply().status == 100
        peer.send(body)
        assert peer.reply().status == 202


def test_client_that_expects_to_be_asked_is_told_at_once_when_its_body_is_too_large(
    door: RunningDoor,
) -> None:
    with door.peer() as peer:
        peer.send(HEAD + b"Expect: 100-continue\r\nContent-Length: 9000000\r\n\r\n")
        assert peer.reply().status == 413


@pytest.mark.parametrize("sent", [b"P", HEAD, HEAD + b"Content-Length: 10\r\n\r\n{"])
def test_request_that_does_not_arrive_in_time_is_answered_408_and_closed(
    start_door: StartDoor, sent: bytes
) -> None:
    door = start_door(arrival_s=0.2)
    with door.peer() as peer:
        peer.send(sent)
        reply = peer.reply()
        assert (reply.status, reply.json["code"]) == (408, "request_timeout")
        assert peer.is_closed()


@pytest.mark.parametrize("start", [HEAD + b"X: ", HEAD + b"Content-Length: 1000000\r\n\r\n"])
def test_trickle_does_not_buy_time(start_door: StartDoor, start: bytes) -> None:
    door = start_door(arrival_s=0.3, idle_s=60)
    began_s = time.monotonic()
    with door.peer() as peer:
        peer.send(start)
        peer.sock.settimeout(0.02)
        while True:
            assert time.monotonic() - began_s < 50, "the door let the peer trickle on"
            try:
                if peer.sock.recv(1):
                    break
            except TimeoutError:
                peer.send(b"x")
    assert time.monotonic() - began_s >= 0.3


def test_idle_connection_is_closed_after_its_time_without_a_word(start_door: StartDoor) -> None:
    door = start_door(idle_s=0.2)
    with door.peer() as fresh, door.peer() as used:
        assert used.request("GET", "/v1/health").status == 200
        assert fresh.sock.recv(1) == b""
        assert used.sock.recv(1) == b""


def test_work_of_the_daemon_is_not_bounded_by_the_limits_on_peers(start_door: StartDoor) -> None:
    door = start_door(idle_s=0.1, arrival_s=0.1)
    door.soon(door.backend.gate.clear)
    with door.peer() as peer:
        peer.send(request_bytes("POST", "/v1/messages", message_body()))
        peer.sock.settimeout(0.5)
        with pytest.raises(TimeoutError):
            peer.sock.recv(1)
        door.soon(door.backend.gate.set)
        peer.sock.settimeout(10)
        assert peer.reply().status == 202


def test_longest_idle_connection_makes_room_for_a_new_one(start_door: StartDoor) -> None:
    door = start_door(connections=3)
    peers = [door.peer() for _ in range(3)]
    try:
        for peer in (*peers, peers[0]):
            assert peer.request("GET", "/v1/health").status == 200
        with door.peer() as newcomer:
            assert newcomer.request("GET", "/v1/health").status == 200
            assert peers[1].is_closed()
            for peer in (peers[0], peers[2]):
                assert peer.request("GET", "/v1/health").status == 200
    finally:
        for peer in peers:
            peer.sock.close()


def test_trickling_peers_cannot_shut_the_others_out(start_door: StartDoor) -> None:
    door = start_door(connections=4)
    slow = [door.peer() for _ in range(4)]
    try:
        for peer in slow:
            peer.send(HEAD)
        for _ in range(8):
            with door.peer() as honest, door.peer() as other:
                assert other.request("POST", "/v1/messages", message_body()).status == 202
                assert honest.request("POST", "/v1/messages", message_body()).status == 202
        closed, _, _ = select.select([peer.sock for peer in slow], [], [], 0)
        assert len(closed) >= 2
    finally:
        for peer in slow:
            peer.sock.close()


def test_newcomer_is_told_when_every_connection_is_at_work(start_door: StartDoor) -> None:
    door = start_door(connections=2)
    door.soon(door.backend.gate.clear)
    peers = [door.peer() for _ in range(2)]
    try:
        for peer in peers:
            peer.send(request_bytes("POST", "/v1/messages", message_body()))
        wait_until(lambda: door.backend.at_gate == 2, "both requests at work")
        with door.peer() as newcomer:
            reply = newcomer.reply()
            assert (reply.status, reply.json["code"], reply.headers["retry-after"]) == (503, "busy", "1")
        door.soon(door.backend.gate.set)
        assert [peer.reply().status for peer in peers] == [202, 202]
    finally:
        for peer in peers:
            peer.sock.close()


@pytest.mark.parametrize("unread", [b"", request_bytes("GET", "/v1/health")])
def test_work_for_a_peer_that_left_still_counts(start_door: StartDoor, unread: bytes) -> None:
    """Else a peer could pile up work without bound by leaving after each request.

    A peer that leaves an answer unread resets the connection; one that has read all ends it in order.
    """
    door = start_door(connections=1)
    door.soon(door.backend.gate.clear)
    with door.peer() as peer:
        peer.send(unread + request_bytes("POST", "/v1/messages", message_body()))
        wait_until(lambda: door.backend.at_gate == 1, "the request at work")
    with door.peer() as newcomer:
        assert newcomer.reply().status == 503
    door.soon(door.backend.gate.set)
    wait_until(lambda: door.backend.stored, "the message to be stored")
    assert door.ask("GET", "/v1/health").status == 200


def test_many_more_connections_than_allowed_leave_the_door_open(start_door: StartDoor) -> None:
    door = start_door(connections=16)
    peers = [door.peer() for _ in range(100)]
    try:
        assert door.ask("POST", "/v1/messages", message_body()).status == 202
    finally:
        for peer in peers:
            peer.sock.close()


def test_pipelined_requests_are_answered_in_order(door: RunningDoor) -> None:
    targets = ["/v1/ready", "/v1/nothing", "/v1/health", "/v1/messages"] * 50
    with door.peer() as peer:
        peer.send(b"".join(request_bytes("GET", target) for target in targets))
        assert [peer.reply().status for _ in targets] == [200, 404, 200, 405] * 50


def test_pipelining_peer_that_never_reads_is_held_back_and_then_cut(start_door: StartDoor) -> None:
    door = start_door(arrival_s=0.5)
    request = request_bytes("GET", "/v1/openapi.json")
    sent = 0
    with door.peer() as peer:
        peer.sock.settimeout(10)
        try:
            while sent < 64 * 2**20:
                sent += peer.sock.send(request * 1000)
        except ConnectionError:
            pass  # cut, as it should be
        assert sent < 8 * 2**20, "the door took in requests whose answers nobody read"
        assert door.ask("GET", "/v1/health").status == 200


def test_others_are_served_while_a_peer_does_not_read(door: RunningDoor) -> None:
    with door.peer() as deaf:
        deaf.send(request_bytes("GET", "/v1/openapi.json") * 100)
        for _ in range(20):
            assert door.ask("POST", "/v1/messages", message_body()).status == 202


def test_peer_that_closed_its_sending_half_gets_its_answer(door: RunningDoor) -> None:
    door.soon(door.backend.gate.clear)
    with door.peer() as peer:
        peer.send(request_bytes("POST", "/v1/messages", message_body()))
        peer.sock.shutdown(socket.SHUT_WR)
        wait_until(lambda: door.backend.at_gate == 1, "the request at work")
        door.soon(door.backend.gate.set)
        assert peer.reply().status == 202
        assert peer.is_closed()


def test_requests_that_come_while_one_is_at_work_are_answered_after_it(door: RunningDoor) -> None:
    door.soon(door.backend.gate.clear)
    with door.peer() as peer:
        peer.send(request_bytes("POST", "/v1/messages", message_body()))
        wait_until(lambda: door.backend.at_gate == 1, "the request at work")
        more = request_bytes("GET", "/v1/health") + request_bytes("GET", "/v1/nothing")
        for piece in (more[:20], more[20:]):
            peer.send(piece)
            wait_until(lambda: peer.unread_bytes() == 0, "the door to read what was sent")
            door.soon(door.backend.gate.set)
        assert [peer.reply().status for _ in range(3)] == [202, 200, 404]
        assert peer.request("GET", "/v1/health").status == 200


def test_peer_that_closes_in_the_middle_of_its_next_request_gets_its_answer(door: RunningDoor) -> None:
    door.soon(door.backend.gate.clear)
    with door.peer() as peer:
        peer.send(request_bytes("POST", "/v1/messages", message_body()))
        wait_until(lambda: door.backend.at_gate == 1, "the request at work")
        peer.send(request_bytes("GET", "/v1/health")[:20])
        peer.sock.shutdown(socket.SHUT_WR)
        door.soon(door.backend.gate.set)
        assert peer.reply().status == 202
        assert peer.is_closed()


def test_half_closed_peer_gets_every_pipelined_answer(door: RunningDoor) -> None:
    with door.peer() as peer:
        peer.send(request_bytes("GET", "/v1/health") * 100)
        peer.sock.shutdown(socket.SHUT_WR)
        assert [peer.reply().status for _ in range(100)] == [200] * 100
        assert peer.is_closed()


@pytest.mark.parametrize("seen_before", [0, 10, 100])
def test_half_closed_peer_gets_its_answer_when_the_end_comes_with_the_last_of_the_request(
    door: RunningDoor, seen_before: int
) -> None:
    request = request_bytes("POST", "/v1/messages", message_body())
    with door.peer() as peer:
        peer.send(request[:seen_before])
        wait_until(lambda: peer.unread_bytes() == 0, "the door to read what was sent")
        with door.held():
            peer.send(request[seen_before:])
            peer.sock.shutdown(socket.SHUT_WR)
        assert peer.reply().status == 202


def test_peer_that_closes_in_the_middle_of_its_body_stores_nothing(door: RunningDoor) -> None:
    body = message_body()
    with capture_logs() as logs:
        with door.peer() as peer:
            peer.send(HEAD + b"Content-Length: %d\r\n\r\n" % (len(body) + 1) + body)
            wait_until(lambda: peer.unread_bytes() == 0, "the door to read what was sent")
            peer.sock.shutdown(socket.SHUT_WR)
            assert peer.is_closed()
        assert door.ask("GET", "/v1/health").status == 200
    assert door.backend.stored == {}
    assert [line for line in logs if line["log_level"] != "debug"] == []


def test_body_that_nobody_read_is_never_taken_for_the_next_request(door: RunningDoor) -> None:
    hidden = request_bytes("POST", "/v1/messages", message_body())
    with door.peer() as peer:
        peer.send(b"POST /v1/nothing HTTP/1.1\r\nHost: d\r\nContent-Length: %d\r\n\r\n" % len(hidden))
        assert peer.reply().status == 404
        peer.send(hidden)
        assert peer.is_closed()
    assert door.backend.stored == {}


def test_connection_is_kept_after_a_problem(door: RunningDoor) -> None:
    with door.peer() as peer:
        for target in ("/v1/nothing", "/v1/dead-letters?limit=0", "/v1/health"):
            assert peer.request("GET", target).headers.get("connection") != "close"

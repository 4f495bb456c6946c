"""Stopping: answers in flight are given, idle connections closed, what hangs is cut."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from running_door import RunningDoor

from support.raw_http import message_body, request_bytes
from support.waiting import wait_until


def stop_in_background(door: RunningDoor, timeout_s: float) -> threading.Thread:
    thread = threading.Thread(target=door.stop, args=(timeout_s,))
    thread.start()
    return thread


def test_request_in_flight_is_answered_and_its_connection_closed(door: RunningDoor) -> None:
    door.soon(door.backend.gate.clear)
    with door.peer() as peer:
        peer.send(request_bytes("POST", "/v1/messages", message_body()))
        wait_until(lambda: door.backend.at_gate == 1, "the request at work")
        stopping = stop_in_background(door, 10)
        wait_until(lambda: not door.path.exists(), "the stop to begin")
        door.soon(door.backend.gate.set)
        reply = peer.reply()
        assert (reply.status, reply.headers["connection"]) == (202, "close")
        assert peer.is_closed()
    stopping.join(30)
    assert not stopping.is_alive()


def test_request_that_is_arriving_is_refused_as_draining_once_it_is_there(door: RunningDoor) -> None:
    body = message_body()
    request = request_bytes("POST", "/v1/messages", body)
    with door.peer() as peer:
        peer.send(request[:20])
        wait_until(lambda: peer.unread_bytes() == 0, "the door to read what was sent")
        stopping = stop_in_background(door, 10)
        wait_until(lambda: not door.path.exists(), "the stop to begin")
        peer.send(request[20:])
        reply = peer.reply()
        assert (reply.status, reply.json["code"]) == (503, "draining")
        assert peer.is_closed()
    stopping.join(30)
    assert not stopping.is_alive()


def test_idle_connections_are_closed_at_once(door: RunningDoor) -> None:
    with door.peer() as fresh, door.peer() as used:
        assert used.request("GET", "/v1/health").status == 200
        began_s = time.monotonic()
        door.stop(100)
        assert time.monotonic() - began_s < 50
        assert fresh.is_closed()
        assert used.is_closed()


def test_request_that_hangs_is_cut_after_the_time_given(door: RunningDoor) -> None:
    door.soon(door.backend.gate.clear)
    with door.peer() as peer:
        peer.send(request_bytes("POST", "/v1/messages", message_body()))
        wait_until(lambda: door.backend.at_gate == 1, "the request at work")
        began_s = time.monotonic()
        door.stop(0.3)
        assert time.monotonic() - began_s >= 0.3
        assert peer.is_closed()
    assert door.backend.stored == {}


def test_nobody_can_connect_any_more(door: RunningDoor) -> None:
    door.stop()
    with pytest.raises(OSError, match="No such file"):
        door.peer()


def test_stopping_twice_is_the_same_as_once(door: RunningDoor) -> None:
    door.stop()
    door.stop()


def test_work_for_a_peer_that_left_is_ended_too(door: RunningDoor) -> None:
    door.soon(door.backend.gate.clear)
    with door.peer() as peer:
        peer.send(request_bytes("POST", "/v1/messages", message_body()))
        wait_until(lambda: door.backend.at_gate == 1, "the request at work")
    door.stop(0.1)
    door.soon(door.backend.gate.set)
    door.run(asyncio.sleep(0))
    assert door.backend.stored == {}

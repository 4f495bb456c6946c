"""Bad input through the socket of the real program: the code that is documented, and nothing changes."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.daemon import DaemonProcess
from support.network import running_network


class OverUnix(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("d", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(30)
        self.sock.connect(str(self._path))


@pytest.fixture(scope="module")
def daemon(server_url: str) -> Iterator[DaemonProcess]:
    """One daemon for all of them, delivering nothing."""
    with running_network(server_url) as network:
        daemon = DaemonProcess({"baseUrl": network.url, "workspace": "w", "peerName": "ann", "aiPeer": "bot"})
        try:
            with daemon.start().client() as client:
                client.pause()
            yield daemon
        finally:
            daemon.close()


def post(daemon: DaemonProcess, body: bytes) -> tuple[int, dict[str, Any]]:
    connection = OverUnix(daemon.socket)
    try:
        connection.request("POST", "/v1/messages", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def said(**more: Any) -> dict[str, Any]:
    return {"content": "hello", **more}


def request(*messages: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"session": "s", "messages": list(messages), **more}).encode()


BAD: dict[str, tuple[bytes, int, str, str]] = {
    "not JSON": (b"{", 400, "bad_request", ""),
    "nothing": (b"", 400, "bad_request", ""),
    "a list": (b"[]", 400, "bad_request", ""),
    "invalid UTF-8": (b'{"session": "s", "messages": [{"content": "\xff"}]}', 400, "bad_request", ""),
    "nested without end": (b'{"session":' + b"[" * 100_000, 400, "bad_request", ""),
    "an unknown field": (request(said(), nonsense=1), 400, "bad_request", "nonsense"),
    "an unknown field of a message": (request(said(colour="red")), 400, "bad_request", "colour"),
    "a number for text": (request({"content": 7}), 400, "bad_request", "messages[0].content"),
    "a role that is none": (request(said(role="system")), 400, "bad_request", "messages[0].role"),
    "an author that is none": (request(said(author="ghost")), 400, "bad_request", "messages[0].author"),
    "metadata that is no object": (request(said(metadata=[1])), 400, "bad_request", "messages[0].metadata"),
    "an id of 600 characters": (request(said(id="x" * 600)), 400, "bad_request", "messages[0].id"),
    "an empty id": (request(said(id="")), 400, "bad_request", "messages[0].id"),
    "a session key of 600 characters": (request(said(), session="x" * 600), 400, "bad_request", "session"),
    "neither session nor locator": (
        json.dumps({"messages": [said()]}).encode(),
        400,
        "bad_request",
        "session",
    ),
    "no content": (request({}), 400, "bad_request", "content"),
    "a time that is none": (request(said(created_at="yesterday")), 400, "bad_request", "created_at"),
    "a year of 10000": (
        request(said(created_at="10000-01-01T00:00:00Z")),
        422,
        "unprocessable",
        "created_at",
    ),
    "a year of 9999": (request(said(created_at="9999-06-01T00:00:00Z")), 422, "unprocessable", "created_at"),
    "a year of 1969": (request(said(created_at="1969-06-01T00:00:00Z")), 422, "unprocessable", "created_at"),
    "no messages": (request(), 422, "unprocessable", "messages"),
    "101 metadata keys": (
        request(said(metadata={f"k{number}": 1 for number in range(101)})),
        *(422, "unprocessable", "metadata"),
    ),
    "metadata 6 deep": (
        request(said(metadata={"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}})),
        *(422, "unprocessable", "metadata"),
    ),
    "a key of the daemon's": (request(said(metadata={"honchod_id": "*"})), 422, "unprocessable", "honchod_"),
    "1,001 messages": (request(*[said()] * 1001), 413, "too_large", "1000"),
    "a host that is not configured": (request(said(), host="ghost"), 422, "unknown_host", "default"),
    "one bad message among good ones": (
        request(said(id="good"), said(created_at="10000-01-01T00:00:00Z")),
        *(422, "unprocessable", "created_at"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_its_code_and_changes_nothing(daemon: DaemonProcess, case: str) -> None:
    body, status, code, named = BAD[case]
    before = daemon.status()["queue"]
    got, problem = post(daemon, body)
    assert (got, problem["code"], problem["status"]) == (status, code, status)
    assert named in problem["detail"]
    assert daemon.status()["queue"] == {**before, "oldest_age_s": daemon.status()["queue"]["oldest_age_s"]}


def test_a_body_over_the_limit_is_refused(daemon: DaemonProcess) -> None:
    """5 MiB; the daemon need not read it all, so the answer may come while it is still being sent."""
    connection = OverUnix(daemon.socket)
    connection.connect()
    body = request(said(content="x" * (5 << 20)))
    head = f"POST /v1/messages HTTP/1.1\r\nHost: d\r\nContent-Length: {len(body)}\r\n\r\n"
    try:
        connection.sock.sendall(head.encode())
        connection.sock.sendall(body)
    except (BrokenPipeError, ConnectionResetError):
        pass
    answer = http.client.HTTPResponse(connection.sock, method="POST")
    answer.begin()
    assert answer.status == 413
    assert json.loads(answer.read())["code"] == "too_large"
    connection.close()
    assert daemon.status()["queue"]["pending"] == 0


def test_nobody_to_attribute_a_message_to_is_refused(server_url: str) -> None:
    with running_network(server_url) as network:
        daemon = DaemonProcess({"baseUrl": network.url, "workspace": "w", "aiPeer": "bot"})
        try:
            daemon.start()
            status, problem = post(daemon, request(said()))
            assert (status, problem["code"]) == (422, "no_identity")
            assert daemon.status()["queue"]["pending"] == 0
            assert network.seen() == []
        finally:
            daemon.close()

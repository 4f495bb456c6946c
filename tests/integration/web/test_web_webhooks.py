"""Honcho's webhooks: taken only when they are Honcho's, and then looked after at once."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from web_house import House

from honchod.sandbox.thread import running_sandbox
from support.daemon import DaemonProcess
from support.network import running_network
from support.waiting import wait_until

SECRET = "what-honcho-signs-its-events-with"
PATH = "/v1/webhooks/honcho"
DERIVED = json.dumps(
    {
        "type": "queue.empty",
        "data": {"workspace_id": "home", "session_id": "s", "queue_type": "representation"},
    }
).encode()


@pytest.fixture(scope="module")
def told() -> Iterator[House]:
    """A daemon that Honcho's webhooks reach."""
    with running_sandbox() as sandbox, running_network(sandbox.url) as network:
        daemon = DaemonProcess({"baseUrl": network.url, "workspace": "home", "peerName": "ann"})
        secret_file = daemon.directory / "secret"
        secret_file.touch(0o600)
        secret_file.write_text(SECRET + "\n")
        daemon.configure({"http": {"listen": "127.0.0.1:0", "webhook_secret_file": str(secret_file)}})
        try:
            with daemon.start().client() as client:
                access = client.ui(show_token=True)
            yield House(daemon, network, access["url"], access["token"])
        finally:
            daemon.close()


def sign(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def post(house: House, body: bytes, headers: dict[str, str]) -> int:
    """One event, as a server sends it: no cookie, no Origin."""
    at = urlsplit(house.url)
    connection = http.client.HTTPConnection(str(at.hostname), at.port or 0, timeout=30)
    try:
        connection.request("POST", PATH, body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def test_an_event_makes_the_daemon_look_at_that_session_at_once(told: House) -> None:
    told.network.hit("GET queue/status: status=500")
    with told.daemon.client() as client:
        client.write([{"content": "hello"}], session="s")
    told.daemon.wait_for_delivery()

    def looks() -> int:
        return sum(one.path.endswith("/queue/status") for one in told.network.seen())

    # By now it waits for longer than this test does, unless it is told.
    wait_until(lambda: looks() >= 4, "the watch to back off")
    told.network.heal()
    before = looks()
    assert post(told, DERIVED, {"X-Honcho-Signature": sign(DERIVED)}) == 204
    wait_until(lambda: looks() > before, "the look", timeout_s=4)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Honcho-Signature": ""},
        {"X-Honcho-Signature": sign(DERIVED, "another secret")},
        {"X-Honcho-Signature": sign(DERIVED + b" ")},
        {"X-Honcho-Signature": sign(b"")},
    ],
)
def test_an_event_that_is_not_signed_by_honcho_is_refused(told: House, headers: dict[str, str]) -> None:
    assert post(told, DERIVED, headers) == 401
    assert SECRET not in told.daemon.log()


def test_a_signed_event_of_another_kind_is_taken_and_means_nothing(told: House) -> None:
    for body in (b'{"type": "test.event"}', b"not json", b"[]"):
        assert post(told, body, {"X-Honcho-Signature": sign(body)}) == 204


def test_an_event_that_is_too_large_is_refused(told: House) -> None:
    body = b"x" * 1_000_000
    assert post(told, body, {"X-Honcho-Signature": sign(body)}) == 413


def test_without_a_secret_there_is_nothing_to_send_events_to(house: House) -> None:
    assert post(house, DERIVED, {"X-Honcho-Signature": sign(DERIVED, "")}) == 404

"""The front door of the real program: its socket, its limits, its roles, and the truth of its document."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import positive_data_acceptance

from honchod.api import openapi
from honchod.api.routes import ROUTES
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import running_network
from support.other_user import ask_as
from support.raw_http import Peer, message_body, request_bytes
from support.unix_requests import unix_session
from support.waiting import wait_until

DOCUMENT: dict[str, Any] = json.loads(openapi.document(ROUTES))
OPERATIONS = [(path, method) for path, item in DOCUMENT["paths"].items() for method in item]
AGENT_UID = 51001

MakeDaemon = Callable[..., DaemonProcess]


@pytest.fixture(scope="module")
def fuzzed(server_url: str) -> Iterator[DaemonProcess]:
    """A daemon that everything may be sent to."""
    with running_network(server_url) as network:
        daemon = DaemonProcess({"baseUrl": network.url, "workspace": "w", "peerName": "ann", "aiPeer": "bot"})
        try:
            yield daemon.start()
        finally:
            daemon.close()


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_daemon_answers_whatever_is_sent_as_its_document_says(
    fuzzed: DaemonProcess, path: str, method: str
) -> None:
    session = unix_session(fuzzed.socket)
    operation = schemathesis.openapi.from_dict(DOCUMENT)[path][method]
    cases = st.one_of(operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode)

    @settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
    @given(cases)
    def check(case: schemathesis.Case) -> None:
        if path == "/v1/worker/drain":
            _hurry(case.body)
        # A request can fit the schema and still be refused: an unknown host, a cursor of another daemon.
        case.call_and_validate(
            base_url="http://honchod", session=session, excluded_checks=[positive_data_acceptance]
        )

    check()
    assert fuzzed.events("request.failed") == []
    assert fuzzed.events("connection.failed") == []


def _hurry(body: Any) -> None:
    """Ask for no more than a moment where a valid request might wait an hour."""
    wait_s = body.get("timeout_s") if isinstance(body, dict) else None
    if isinstance(wait_s, int | float) and 0 < wait_s <= 3600:
        body["timeout_s"] = 0.01


def test_second_daemon_leaves_the_socket_of_the_first_alone(make_daemon: MakeDaemon) -> None:
    first = make_daemon().start()
    second = make_daemon()
    second.socket = first.socket
    second.start(ready=False)
    assert second.wait() == 1
    assert f"another daemon answers on {first.socket}" in second.log()
    assert first.status()["queue"]["pending"] == 0


def test_socket_of_a_daemon_that_was_killed_is_taken_over(daemon: DaemonProcess) -> None:
    daemon.start().kill()
    assert daemon.socket.exists()
    daemon.start()
    assert stat.S_IMODE(daemon.socket.stat().st_mode) == 0o660
    assert daemon.stop() == 0
    assert not daemon.socket.exists()


def test_limits_of_the_settings_file_are_in_force_and_in_info(make_daemon: MakeDaemon) -> None:
    sizes = {"body_bytes": 1024, "messages_per_request": 2, "connections": 2}
    limits = {**sizes, "arrival_s": 0.2, "idle_s": 0.5}
    daemon = make_daemon(settings={"limits": limits}).start()
    with daemon.client() as client:
        assert client.info()["limits"] == {**limits, "id_chars": 512}
    with Peer(daemon.socket) as peer:
        assert peer.request("POST", "/v1/messages", message_body(3)).status == 413
        assert peer.request("POST", "/v1/messages", message_body().ljust(1025)).status == 413
    with Peer(daemon.socket) as slow:
        slow.send(b"POST")
        assert slow.reply().status == 408
    with Peer(daemon.socket) as idle:
        assert idle.is_closed()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_access_follows_the_settings_file_and_its_reload(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(settings={"access": {"allow_uids": [AGENT_UID]}}).start()
    daemon.directory.chmod(0o750)
    assert ask_as(daemon.socket, AGENT_UID, "POST", "/v1/messages", message_body())[0] == 202
    assert ask_as(daemon.socket, AGENT_UID, "GET", "/v1/status")[0] == 403
    daemon.configure({"access": {"operator_uids": [AGENT_UID]}})
    daemon.signal(signal.SIGHUP)
    wait_until(
        lambda: ask_as(daemon.socket, AGENT_UID, "GET", "/v1/status")[0] == 200, "the new rules to hold"
    )


def test_lone_surrogate_is_delivered_as_the_replacement_character(
    daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    daemon.start()
    body = rb'{"session":"s","messages":[{"id":"e1","content":"broken \ud83d emoji"},{"content":"next"}]}'
    with Peer(daemon.socket) as peer:
        assert peer.request("POST", "/v1/messages", body).status == 202
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "s") == ["broken \ufffd emoji", "next"]


def test_request_that_had_begun_to_arrive_is_taken_in_and_kept_while_the_daemon_stops(
    daemon: DaemonProcess,
) -> None:
    daemon.start()
    with Peer(daemon.socket) as begun, Peer(daemon.socket) as late:
        begun.send(request_bytes("POST", "/v1/messages", message_body())[:-1])
        late.send(b"POST /v1/messages HTTP/1.1\r\n")
        for peer in (begun, late):
            wait_until(lambda peer=peer: peer.unread_bytes() == 0, "the daemon to read what was sent")
        daemon.signal(signal.SIGTERM)
        wait_until(lambda: not daemon.socket.exists(), "the stop to begin")
        begun.send(b"}")
        late.send(b"Host: d\r\nContent-Length: 0\r\n\r\n")
        assert begun.reply().status == 202
        refusal = late.reply()
        assert (refusal.status, refusal.json["code"]) == (503, "draining")
    assert daemon.wait() == 0
    daemon.start()
    assert daemon.wait_for_delivery()["queue"]["delivered"] == 1

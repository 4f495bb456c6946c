"""What each call answers, and the error table as far as it is the door's."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from running_door import RunningDoor
from structlog.testing import capture_logs

from support.raw_http import Reply, message_body
from support.waiting import wait_until


@pytest.fixture(params=[{}, {"X-Unknown": "read by aiohttp"}], ids=["whole", "by aiohttp"])
def door(request: pytest.FixtureRequest, start_door: Callable[[], RunningDoor]) -> RunningDoor:
    """However a request is read, it is answered alike."""
    started = start_door()
    started.headers = request.param
    return started


def problem(reply: Reply) -> tuple[int, str]:
    """Status and code of an answer that has to be a problem document."""
    assert reply.headers["content-type"] == "application/problem+json"
    document = reply.json
    assert document["status"] == reply.status
    assert document["type"] == f"urn:honchod:problem:{document['code']}"
    assert document["title"]
    assert document["detail"]
    return reply.status, document["code"]


def test_messages_are_taken_in_and_answered_with_202(door: RunningDoor) -> None:
    reply = door.ask("POST", "/v1/messages", message_body(2))
    assert reply.status == 202
    assert reply.headers["content-type"] == "application/json"
    assert reply.json == {
        "session": "chat",
        "results": [
            {"id": "m0", "status": "queued", "parts": 1},
            {"id": "m1", "status": "queued", "parts": 1},
        ],
    }


def test_same_message_again_is_a_duplicate(door: RunningDoor) -> None:
    door.ask("POST", "/v1/messages", message_body())
    assert door.ask("POST", "/v1/messages", message_body()).json["results"][0]["status"] == "duplicate"


def test_content_type_does_not_matter(door: RunningDoor) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert door.ask("POST", "/v1/messages", message_body(), **form).status == 202


def test_lone_surrogate_escape_is_stored_as_the_replacement_character(door: RunningDoor) -> None:
    body = rb'{"session":"chat","messages":[{"id":"e1","content":"broken \ud83d emoji"}]}'
    assert door.ask("POST", "/v1/messages", body).status == 202
    assert door.backend.stored["chat", "e1"] == "broken \ufffd emoji"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b'{"messages":[{"content":"\xff"}]}',
        b'{"messages":[{"content":"x"}],"colour":"red"}',
        b'{"messages":"x"}',
        b'{"session":"","messages":[{"content":"x"}]}',
        b'{"messages":[{"content":"x","id":"' + b"i" * 513 + b'"}]}',
        b'{"messages":[{"content":"x","metadata":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}]}",
    ],
)
def test_body_that_is_no_write_request_is_a_bad_request(door: RunningDoor, body: bytes) -> None:
    assert problem(door.ask("POST", "/v1/messages", body)) == (400, "bad_request")
    assert door.backend.stored == {}


def test_bad_request_names_the_field(door: RunningDoor) -> None:
    body = json.dumps({"messages": [{"content": "x", "role": "boss"}]}).encode()
    reply = door.ask("POST", "/v1/messages", body)
    assert reply.json["detail"] == "messages[0].role: not one of the allowed values"


def test_ids_of_512_characters_are_taken(door: RunningDoor) -> None:
    assert door.ask("POST", "/v1/messages", message_body(session="\u00e9" * 512)).status == 202
    assert problem(door.ask("POST", "/v1/messages", message_body(session="\u00e9" * 513))) == (
        400,
        "bad_request",
    )


def test_request_without_messages_is_unprocessable(door: RunningDoor) -> None:
    assert problem(door.ask("POST", "/v1/messages", b'{"messages":[]}')) == (422, "unprocessable")


def test_problems_of_the_backend_are_answered_as_they_are(door: RunningDoor) -> None:
    door.ask("POST", "/v1/messages", message_body())
    other = json.dumps({"session": "chat", "messages": [{"id": "m0", "content": "other"}]}).encode()
    assert problem(door.ask("POST", "/v1/messages", other)) == (409, "id_conflict")
    assert problem(door.ask("POST", "/v1/messages", message_body(host="nobody"))) == (422, "unknown_host")
    door.backend.capacity = 1
    full = door.ask("POST", "/v1/messages", message_body(2))
    assert problem(full) == (507, "outbox_full")
    assert (full.headers["retry-after"], full.json["retry_after_s"]) == ("2", 1.5)


@pytest.mark.parametrize("fault", [ConnectionRefusedError(), TimeoutError(), KeyError("x"), RecursionError()])
def test_whatever_fails_behind_the_door_is_answered(door: RunningDoor, fault: Exception) -> None:
    door.backend.fault = fault
    with capture_logs() as logs:
        assert problem(door.ask("POST", "/v1/messages", message_body())) == (500, "internal")
    assert [(entry["event"], entry["error"]) for entry in logs] == [("request.failed", type(fault).__name__)]


def test_unexpected_failure_is_internal_and_neither_told_nor_logged_with_its_text(door: RunningDoor) -> None:
    door.backend.fault = RuntimeError("the secret of the message")
    with capture_logs() as logs:
        reply = door.ask("POST", "/v1/messages", message_body(), **{"X-Request-Id": "req-1"})
    assert problem(reply) == (500, "internal")
    assert "secret" not in reply.body.decode()
    (entry,) = [entry for entry in logs if entry["event"] == "request.failed"]
    assert (entry["error"], entry["route"], entry["request_id"]) == (
        "RuntimeError",
        "POST /v1/messages",
        "req-1",
    )
    assert entry["where"].startswith("memory_backend.py:")
    assert "secret" not in str(logs)
    door.backend.fault = None
    assert door.ask("POST", "/v1/messages", message_body()).status == 202


def test_unknown_path_and_method_are_problems_too(door: RunningDoor) -> None:
    assert problem(door.ask("GET", "/v1/nothing")) == (404, "not_found")
    reply = door.ask("DELETE", "/v1/messages")
    assert problem(reply) == (405, "method_not_allowed")
    assert reply.headers["allow"] == "POST"


def test_request_id_is_the_callers_if_sane_else_one_of_the_daemons(door: RunningDoor) -> None:
    assert door.ask("GET", "/v1/health", **{"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
    made = {
        door.ask("GET", "/v1/health", **{"X-Request-Id": "a b"}).headers["x-request-id"] for _ in range(3)
    }
    assert len(made) == 3
    assert "a b" not in made
    assert door.ask("GET", "/nothing").headers["x-request-id"]


def test_health_is_503_with_what_is_stuck(door: RunningDoor) -> None:
    assert door.ask("GET", "/v1/health").status == 200
    door.backend.stuck = ["writer"]
    reply = door.ask("GET", "/v1/health")
    assert (reply.status, reply.headers["content-type"]) == (503, "application/json")
    assert (reply.json["status"], reply.json["stuck"]) == ("stuck", ["writer"])


def test_ready_is_503_until_the_database_is_open(door: RunningDoor) -> None:
    assert (door.ask("GET", "/v1/ready").status, door.ask("GET", "/v1/ready").json) == (200, {"ready": True})
    door.backend.is_ready = False
    reply = door.ask("GET", "/v1/ready")
    assert (reply.status, reply.json) == (503, {"ready": False})


def test_metrics_are_prometheus_text(door: RunningDoor) -> None:
    reply = door.ask("GET", "/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=")
    assert reply.body.endswith(b"honchod_up 1.0\n")


def test_info_and_status_are_answered(door: RunningDoor) -> None:
    assert door.ask("GET", "/v1/info").json["limits"]["body_bytes"] == 4 * 2**20
    assert door.ask("GET", "/v1/status").json["queue"]["dead"] == 2


def test_dead_letters_are_listed_page_by_page(door: RunningDoor) -> None:
    first = door.ask("GET", "/v1/dead-letters?limit=1").json
    assert ([letter["id"] for letter in first["items"]], first["total"]) == (["letter-1"], 2)
    second = door.ask("GET", f"/v1/dead-letters?limit=1&cursor={first['cursor']}").json
    assert ([letter["id"] for letter in second["items"]], second["cursor"]) == (["letter-2"], None)
    assert door.ask("GET", "/v1/dead-letters?session=other&code=expired").json["total"] == 0


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=1001", "limit=x", "cursor=unreadable", "session=", "colour=red", "limit=1&limit=1"],
)
def test_query_is_checked(door: RunningDoor, query: str) -> None:
    assert problem(door.ask("GET", f"/v1/dead-letters?{query}")) == (400, "bad_request")


def test_parameters_of_a_call_that_has_none_are_refused(door: RunningDoor) -> None:
    assert problem(door.ask("GET", "/v1/health?verbose=1")) == (400, "bad_request")


def test_letter_shows_its_content_only_when_asked(door: RunningDoor) -> None:
    assert "content" not in door.ask("GET", "/v1/dead-letters/letter-1").json
    assert door.ask("GET", "/v1/dead-letters/letter-1?content=1").json["content"] == "content of letter 1"
    assert problem(door.ask("GET", "/v1/dead-letters/letter-1?content=yes")) == (400, "bad_request")
    assert problem(door.ask("GET", "/v1/dead-letters/letter-9")) == (404, "not_found")
    assert problem(door.ask("GET", "/v1/dead-letters/" + "i" * 513)) == (400, "bad_request")


def test_letters_are_retried_and_discarded(door: RunningDoor) -> None:
    assert door.ask("POST", "/v1/dead-letters/retry", b'{"ids":["letter-1"]}').json == {
        "retried": 1,
        "remaining": 1,
    }
    assert door.ask("POST", "/v1/dead-letters/discard", b'{"ids":["letter-2","letter-9"]}').json == {
        "discarded": 1
    }


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("retry", b""),
        ("retry", b'{"limit":0}'),
        ("retry", b'{"ids":[]}'),
        ("retry", b'{"id":"letter-1"}'),
        ("discard", b"{}"),
        ("discard", b'{"ids":[]}'),
        ("discard", b'{"ids":"letter-1"}'),
    ],
)
def test_letters_are_not_touched_by_a_selection_that_is_none(
    door: RunningDoor, target: str, body: bytes
) -> None:
    assert problem(door.ask("POST", f"/v1/dead-letters/{target}", body)) == (400, "bad_request")
    assert door.ask("GET", "/v1/dead-letters").json["total"] == 2


def test_worker_is_woken_paused_and_resumed(door: RunningDoor) -> None:
    assert door.ask("POST", "/v1/worker/pause").json["paused"] is True
    assert door.ask("POST", "/v1/worker/wake", b"{}").json["paused"] is True
    assert door.ask("POST", "/v1/worker/resume", b"").json["paused"] is False
    assert problem(door.ask("POST", "/v1/worker/wake", b'{"now":true}')) == (400, "bad_request")


@pytest.mark.parametrize("body", [None, b"", b"{}", b'{"timeout_s":2}'])
def test_drain_takes_a_time_or_nothing(door: RunningDoor, body: bytes | None) -> None:
    assert door.ask("POST", "/v1/worker/drain", body).json == {"drained": True, "remaining": 0}


@pytest.mark.parametrize("timeout_s", ["-1", "1e9", '"1"', "NaN", "null"])
def test_drain_refuses_a_time_out_of_range(door: RunningDoor, timeout_s: str) -> None:
    body = b'{"timeout_s":%s}' % timeout_s.encode()
    assert problem(door.ask("POST", "/v1/worker/drain", body)) == (400, "bad_request")


def test_checks_and_reload_are_answered(door: RunningDoor) -> None:
    assert door.ask("POST", "/v1/checks").json["ok"] is True
    assert door.ask("POST", "/v1/reload").json["hosts"] == ["default", "hermes"]


def test_reload_of_a_bad_file_names_what_is_wrong(door: RunningDoor) -> None:
    door.backend.configuration_problems = ["limits.idle_s: 0 is not between 0.05 and 600"]
    reply = door.ask("POST", "/v1/reload")
    assert problem(reply) == (422, "unprocessable")
    assert "limits.idle_s: 0 is not between 0.05 and 600" in reply.json["detail"]


def test_while_draining_only_intake_is_refused(door: RunningDoor) -> None:
    door.soon(door.door.refuse_intake)
    reply = door.ask("POST", "/v1/messages", message_body())
    assert problem(reply) == (503, "draining")
    assert reply.headers["retry-after"] == "5"
    assert door.ask("GET", "/v1/status").status == 200
    assert door.ask("POST", "/v1/worker/drain").status == 200
    assert door.backend.stored == {}


@pytest.mark.parametrize(
    "request_",
    [
        b"hello\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nHost: d\r\nX: " + b"a" * 10_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\nHost: d\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nHost: d\r\n" + b"X: 1\r\n" * 100 + b"\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: d\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: d\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: d\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_what_is_no_http_is_a_bad_request_and_ends_only_its_own_connection(
    door: RunningDoor, request_: bytes
) -> None:
    with door.peer() as peer, capture_logs() as logs:
        peer.send(request_)
        assert problem(peer.reply()) == (400, "bad_request")
        assert peer.is_closed()
    assert logs == []
    assert door.ask("GET", "/v1/health").status == 200


def test_too_long_a_header_is_called_that(door: RunningDoor) -> None:
    reply = door.ask("GET", "/v1/health", X="a" * 10_000)
    assert reply.json["detail"] == "the request line or a header is too long"


@pytest.mark.parametrize("apart", [False, True])
def test_broken_chunks_are_a_bad_request(door: RunningDoor, apart: bool) -> None:
    with door.peer() as peer:
        peer.send(b'POST /v1/messages HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"mes')
        if apart:
            wait_until(lambda: peer.unread_bytes() == 0, "the door to wait for the next chunk")
        peer.send(b"zz\r\n\r\n\r\n")
        assert problem(peer.reply()) == (400, "bad_request")
        assert peer.sock.recv(1) == b""


def test_compressed_bodies_are_not_unpacked(door: RunningDoor) -> None:
    import gzip

    packed = gzip.compress(message_body())
    reply = door.ask("POST", "/v1/messages", packed, **{"Content-Encoding": "gzip"})
    assert problem(reply) == (400, "bad_request")

"""Calls as values: what is asked for, how answers become values and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from honchod.client import calls, errors
from honchod.client.address import SYSTEM_SOCKET, socket_path
from honchod.client.ids import new_id
from honchod.client.results import read_recalled, read_written
from honchod.client.wire import Answer


def write_call(*messages: dict[str, Any], **fields: Any) -> calls.Call:
    defaults: dict[str, Any] = {"session": "s", "locator": None, "host": None, "scope": None}
    return calls.write(messages, **{**defaults, "turn_end": False, "group": False, **fields})


def sent(call: calls.Call) -> Any:
    return json.loads(call.encode().partition(b"\r\n\r\n")[2])


def problem(status: int, code: str, **more: Any) -> Answer:
    body = json.dumps({"status": status, "code": code, "detail": "why", **more}).encode()
    return Answer(status, {"content-type": "application/problem+json"}, body, reusable=True)


def test_a_message_without_id_gets_one_and_the_callers_own_mapping_stays() -> None:
    mine = {"content": "hello"}
    body = sent(write_call(mine, {"content": "again", "id": "m2"}))
    assert mine == {"content": "hello"}
    assert body["messages"][1]["id"] == "m2"
    assert body["messages"][0]["id"].count("-") == 4


def test_a_repeat_of_the_same_call_has_the_same_ids() -> None:
    call = write_call({"content": "hello"})
    assert call.encode() == call.encode()


def test_what_was_not_given_is_not_sent() -> None:
    assert set(sent(write_call({"content": "x"}))) == {"session", "messages"}
    everything = write_call({"content": "x"}, turn_end=True, group=True, host="h", scope="c")
    assert set(sent(everything)) == {"session", "messages", "turn_end", "group", "host", "scope"}


def test_a_lone_surrogate_goes_as_its_escape() -> None:
    assert b"\\ud83d" in write_call({"content": "a\ud83d"}).encode()


def test_text_goes_as_utf8() -> None:
    assert "ćäあ".encode() in write_call({"content": "ćäあ"}).encode()


def test_a_number_that_is_no_json_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_call({"content": "x", "metadata": {"n": float("nan")}}).encode()


def test_new_ids_are_valid_version_7_and_rise_with_time() -> None:
    from uuid import UUID

    made = [UUID(new_id()) for _ in range(200)]
    assert {(u.version, u.variant) for u in made} == {(7, "specified in RFC 4122")}
    assert len(set(made)) == 200
    stamps = [u.int >> 80 for u in made]
    assert stamps == sorted(stamps)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "bad_request", errors.BadRequest),
        (404, "not_found", errors.NotFound),
        (409, "id_conflict", errors.IdConflict),
        (413, "too_large", errors.TooLarge),
        (422, "unprocessable", errors.Unprocessable),
        (422, "unknown_host", errors.UnknownHost),
        (422, "no_identity", errors.NoIdentity),
        (422, "redaction_failed", errors.RedactionFailed),
        (429, "quota", errors.QuotaUsedUp),
        (503, "draining", errors.Draining),
        (503, "busy", errors.Busy),
        (507, "outbox_full", errors.OutboxFull),
        (500, "internal", errors.Rejected),
        (418, "from_the_future", errors.Rejected),
    ],
)
def test_each_problem_has_its_error(status: int, code: str, kind: type[errors.Rejected]) -> None:
    with pytest.raises(errors.Rejected) as caught:
        calls.info().read(problem(status, code, retry_after_s=2.5))
    assert type(caught.value) is kind
    assert (caught.value.status, caught.value.code, caught.value.detail) == (status, code, "why")
    assert caught.value.retry_after_s == 2.5


def test_not_allowed_is_not_a_rejection_of_the_content() -> None:
    with pytest.raises(errors.NotAllowed):
        calls.status().read(problem(403, "not_allowed"))


@pytest.mark.parametrize(("header", "expected"), [("7", 7.0), ("-3", 0.0), ("soon", None), (None, None)])
def test_the_retry_after_header_stands_in_for_the_field(header: str | None, expected: float | None) -> None:
    answer = problem(507, "outbox_full")
    if header is not None:
        answer.headers["retry-after"] = header
    with pytest.raises(errors.OutboxFull) as caught:
        calls.info().read(answer)
    assert caught.value.retry_after_s == expected


def test_a_stuck_daemons_health_is_an_answer() -> None:
    body = b'{"status": "stuck", "stuck": ["writer"], "destinations": {}}'
    answer = Answer(503, {"content-type": "application/json"}, body, reusable=True)
    assert calls.health().read(answer)["stuck"] == ["writer"]
    with pytest.raises(errors.BadAnswer):
        calls.info().read(answer)


def test_a_problem_on_health_is_still_a_problem() -> None:
    with pytest.raises(errors.Draining):
        calls.health().read(problem(503, "draining"))


@pytest.mark.parametrize("body", [b"{", b"\xff", b"<html>"])
def test_a_body_that_is_not_json_is_a_bad_answer(body: bytes) -> None:
    with pytest.raises(errors.BadAnswer):
        calls.info().read(Answer(200, {"content-type": "application/json"}, body, reusable=True))


def test_text_is_given_as_text() -> None:
    answer = Answer(200, {"content-type": "text/plain; version=0.0.4"}, b"metric 1\n", reusable=True)
    assert calls.other("GET", "/metrics", None, None).read(answer) == "metric 1\n"


@pytest.mark.parametrize("answer", [None, [], {}, {"session": "s", "results": [{"id": "m"}]}, {"results": 3}])
def test_an_answer_of_another_shape_is_a_bad_answer(answer: Any) -> None:
    with pytest.raises(errors.BadAnswer):
        read_written(answer)
    with pytest.raises(errors.BadAnswer):
        read_recalled(answer)


def test_fields_of_a_newer_daemon_are_ignored() -> None:
    written = read_written({"session": "s", "new": 1, "results": [{"id": "m", "status": "queued", "new": 2}]})
    assert written.results[0].status == "queued"


def test_letters_are_asked_for_with_quoted_filters() -> None:
    call = calls.letters(session="a b/&", code=None, limit=5, cursor=None)
    assert call.path == "/v1/dead-letters?session=a%20b%2F%26&limit=5"


@pytest.mark.parametrize(
    "call", [calls.worker("wake"), calls.discard_letters(["a"]), write_call({"content": ""})]
)
def test_what_is_as_good_twice_as_once_is_repeatable(call: calls.Call) -> None:
    assert call.repeatable


def test_a_call_of_ones_own_is_repeated_only_if_it_reads() -> None:
    assert calls.other("GET", "/v1/info", None, None).repeatable
    assert not calls.other("POST", "/v1/sessions/reset", {}, None).repeatable
    assert calls.other("POST", "/v1/sessions/resolve", {}, repeatable=True).repeatable


def test_the_socket_named_by_the_environment_wins(tmp_path: Any) -> None:
    own = tmp_path / "honchod" / "honchod.sock"
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert socket_path(environ) == SYSTEM_SOCKET
    own.parent.mkdir()
    own.touch()
    assert socket_path(environ) == str(own)
    assert socket_path({**environ, "HONCHOD_SOCKET": "/x.sock"}) == "/x.sock"
    assert socket_path({}) == SYSTEM_SOCKET


WHERE: dict[str, Any] = {"session": None, "locator": None, "host": None, "scope": None}


def test_a_session_call_says_only_what_was_given() -> None:
    call = calls.session("start", **{**WHERE, "locator": {"title": "t"}}, query="where?")
    assert call.path == "/v1/sessions/start"
    assert sent(call) == {"locator": {"title": "t"}, "query": "where?"}


@pytest.mark.parametrize(
    ("action", "repeatable"), [("resolve", True), ("start", True), ("end", True), ("reset", False)]
)
def test_only_a_reset_is_not_asked_for_twice(action: str, repeatable: bool) -> None:
    assert calls.session(action, **{**WHERE, "session": "s"}).repeatable is repeatable


def test_the_prompt_is_asked_for_by_host_and_session() -> None:
    assert calls.prompt(host=None, session=None).path == "/v1/prompt"
    assert calls.prompt(host="h", session="chat:7 x").path == "/v1/prompt?host=h&session=chat%3A7%20x"

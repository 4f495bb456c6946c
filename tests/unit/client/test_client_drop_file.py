"""A write as a file of the drop box: what may stand in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from honchod.capture.redact import Redactor
from honchod.client import DropRefused, DropUnredacted
from honchod.client.drop_file import MESSAGE_FIELDS, REQUEST_BYTES_MAX, encode

NOW_S = 1_780_000_000.25
SECRET = "gh" + "p_" + "a1B2c3D4e5" * 4


def body(**message: Any) -> dict[str, Any]:
    return {"session": "chat", "messages": [{"id": "m1", "content": "hello", **message}]}


def encoded(request: dict[str, Any], **options: Any) -> dict[str, Any]:
    data = encode(request, **{"uid": 7, "now_s": NOW_S, "tried": False, **options})
    document: dict[str, Any] = json.loads(data)
    return document


def message_of(document: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = document["request"]["messages"][0]
    return message


def test_a_file_says_what_the_request_would_have_said() -> None:
    request = {
        "host": "hermes",
        "locator": {"cwd": "/home/ann/x", "run_id": "r1"},
        "scope": "a0-x",
        "turn_end": True,
        "messages": [
            {"id": "m1", "role": "user", "content": "one", "metadata": {"n": [1, {"a": None}]}},
            {"id": "m2", "content": "two", "peer": "teodor", "created_at": "2026-03-02T09:00:00Z"},
        ],
    }
    document = encoded(request, tried=True)
    assert (document["version"], document["uid"], document["tried"]) == (1, 7, True)
    assert message_of(document).pop("created_at") == "2026-05-28T20:26:40.250Z"
    assert document["request"] == request


def test_a_time_of_the_callers_own_is_kept_and_none_is_now() -> None:
    assert message_of(encoded(body(created_at="2026-03-02")))["created_at"] == "2026-03-02"
    assert message_of(encoded(body(created_at=None)))["created_at"] == "2026-05-28T20:26:40.250Z"


def test_secrets_in_content_and_metadata_are_hidden() -> None:
    document = encoded(
        body(content=f"use {SECRET}", metadata={"note": [SECRET], "password": "x1y2z3-hunter"})
    )
    text = json.dumps(document)
    assert SECRET not in text
    assert "hunter" not in text
    assert "[redacted:" in message_of(document)["content"]


def test_a_secret_that_a_nul_byte_interrupts_is_hidden_too() -> None:
    broken = SECRET[:10] + "\0" + SECRET[10:]
    data = encode(body(content=broken, metadata={broken: broken}), uid=7, now_s=NOW_S, tried=False)
    assert SECRET[:10].encode() not in data
    assert SECRET[10:].encode() not in data


@pytest.mark.parametrize(
    "request_",
    [
        {**body(), "session": f"chat-{SECRET}"},
        {**body(), "scope": SECRET},
        {**body(), "locator": {"title": f"about {SECRET}"}},
        body(peer=SECRET),
        body(id=SECRET),
        body(runtime_user=SECRET[:9] + "\0" + SECRET[9:]),
    ],
)
def test_a_secret_in_a_name_is_refused_without_repeating_it(request_: dict[str, Any]) -> None:
    """Hidden, it would be another name, and its message in another session."""
    with pytest.raises(DropRefused) as refused:
        encode(request_, uid=7, now_s=NOW_S, tried=False)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "request_",
    [
        body(contents="x"),
        body(peer=["x"]),
        body(content=5),
        {"session": "s", "messages": [{"id": "m1"}]},
        {**body(), "host": 5},
    ],
)
def test_what_the_daemon_would_never_take_is_refused(request_: dict[str, Any]) -> None:
    with pytest.raises(DropRefused):
        encode(request_, uid=7, now_s=NOW_S, tried=False)


def test_every_field_of_a_message_is_known() -> None:
    from honchod.capture.requests import IncomingMessage

    assert frozenset(IncomingMessage.__struct_fields__) == MESSAGE_FIELDS


def test_a_request_that_no_socket_would_take_is_refused() -> None:
    with pytest.raises(DropRefused):
        encode(body(content="x" * REQUEST_BYTES_MAX), uid=7, now_s=NOW_S, tried=False)


def test_when_a_redactor_fails_nothing_is_written_and_nothing_said() -> None:
    class Failing(Redactor):
        def text(self, text: str) -> str:
            raise RuntimeError(text)

    with pytest.raises(DropUnredacted) as failed:
        encode(body(content="private"), uid=7, now_s=NOW_S, tried=False, redactor=Failing())
    assert "private" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__


def test_it_is_read_as_the_socket_would_read_it() -> None:
    """Half a character becomes U+FFFD, two halves one character, a key a string."""
    document = encoded({**body(content="a\ud800b \ud83d\ude00", metadata={1: "x"}), "session": "s\ud800"})
    assert message_of(document)["content"] == "a\ufffdb \U0001f600"
    assert message_of(document)["metadata"] == {"1": "x"}
    assert document["request"]["session"] == "s\ufffd"


@pytest.mark.parametrize("wrong", [float("nan"), b"x", {1, 2}])
def test_what_is_no_json_is_the_callers_mistake(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode(body(metadata={"x": wrong}), uid=7, now_s=NOW_S, tried=False)

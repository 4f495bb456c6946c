from __future__ import annotations

import json

import pytest

from honchod.api import problems
from honchod.api.request_ids import request_id
from honchod.errors import Busy, Draining, MethodNotAllowed, NotFound


def test_document_has_every_member_and_leaves_out_a_wait_that_would_not_help() -> None:
    assert json.loads(problems.encode(NotFound("no such letter"))) == {
        "type": "urn:honchod:problem:not_found",
        "title": "Not found",
        "status": 404,
        "detail": "no such letter",
        "code": "not_found",
    }


def test_wait_is_in_the_document_and_rounded_up_in_the_header() -> None:
    problem = Draining("stopping", retry_after_s=1.2)
    assert json.loads(problems.encode(problem))["retry_after_s"] == 1.2
    assert problems.reply(problem, "r").headers["Retry-After"] == "2"


def test_methods_that_are_allowed_are_named() -> None:
    assert problems.reply(MethodNotAllowed(["GET", "POST"]), "r").headers["Allow"] == "GET, POST"


def test_last_words_are_one_complete_answer_that_ends_the_connection() -> None:
    head, _, body = (
        problems.reply(Busy("all at work", retry_after_s=1), "r-1").raw(last=True).partition(b"\r\n\r\n")
    )
    lines = head.decode().split("\r\n")
    assert lines[0] == "HTTP/1.1 503 Service Unavailable"
    assert {"Connection: close", "X-Request-Id: r-1", "Retry-After: 1", f"Content-Length: {len(body)}"} < set(
        lines
    )
    assert json.loads(body)["code"] == "busy"


def test_internal_problem_says_nothing_of_its_cause() -> None:
    document = json.loads(problems.encode(problems.internal()))
    assert (document["status"], document["code"]) == (500, "internal")


@pytest.mark.parametrize("given", ["abc", "A-1.b_2:c", "x" * 128])
def test_sane_request_id_is_kept(given: str) -> None:
    assert request_id(given) == given


@pytest.mark.parametrize("given", [None, "", "x" * 129, "a b", "a\nb", "ü", "<script>"])
def test_request_id_is_made_unless_a_sane_one_is_given(given: str | None) -> None:
    made = request_id(given)
    assert made != given
    assert request_id(made) == made
    assert request_id(given) != made

"""What an operator adds to redaction, or excepts from it; and that none of it runs without end."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from honchod.capture.own_patterns import OwnPattern
from honchod.capture.pipeline import Pipeline
from honchod.capture.redact import Redactor
from honchod.errors import RedactionFailed

PASSWORD = "Super" + "Secret123"
BACKTRACKS = [r"(a+)+$", r"(a|a)+$", r"(.*,){12}P", r"(?P<secret>(\w|\w\w)+)\W\W$"]


def own(pattern: str) -> OwnPattern:
    return OwnPattern(pattern, "capture.patterns[0]")


def test_user_patterns_come_on_top() -> None:
    redactor = Redactor([own(r"ACME-\d{4}"), own(r"badge (?P<secret>\w+)")])

    assert redactor.text("ACME-1234, badge blue7") == "[redacted:custom], badge [redacted:custom]"
    assert redactor.text(f"PGPASSWORD={PASSWORD}") == "PGPASSWORD=[redacted:password]"


@pytest.mark.parametrize("pattern", [r"\w+", r".", r".*", r"redacted", r"x*", r"(?s).+", r"\b", r"(?<=\])."])
def test_greedy_user_patterns_stay_idempotent(pattern: str) -> None:
    redactor = Redactor([own(pattern)])

    once = redactor.text(f"hello redacted xx\nPGPASSWORD={PASSWORD} [redacted:jwt] end")

    assert PASSWORD not in once
    assert redactor.text(once) == once


def test_the_allow_list_keeps_what_it_matches_in_full() -> None:
    redactor = Redactor(allow=[own(r"Super\w+123"), own(r"ghp_EXAMPLE\w*")])
    example = "ghp_" + "EXAMPLE" + "a1" * 20

    assert redactor.text(f"PGPASSWORD={PASSWORD}") == f"PGPASSWORD={PASSWORD}"
    assert redactor.text(example) == example
    assert redactor.text(f"PGPASSWORD={PASSWORD}x") == "PGPASSWORD=[redacted:password]"
    assert redactor.value({"password": PASSWORD}) == {"password": PASSWORD}


def test_a_pattern_that_does_not_compile_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="missing"):
        own("(")


@pytest.mark.parametrize("pattern", BACKTRACKS)
def test_a_pattern_that_backtracks_without_end_fails_the_message_and_is_named(pattern: str) -> None:
    text = "a" * 500 + "1,2,3," * 500 + " swordfish" * 500 + "b"
    with capture_logs() as logs, pytest.raises(RedactionFailed) as failed:
        Pipeline("default", Redactor([own(pattern)]), 25_000).run(text, "human", None)
    assert "swordfish" not in str(failed.value)
    assert [(line["event"], line["pattern"]) for line in logs] == [
        ("redaction.pattern_too_slow", "capture.patterns[0]")
    ]


def test_an_exception_that_backtracks_without_end_fails_too() -> None:
    secret = "ghp_" + "a1" * 18
    redactor = Redactor(allow=[own(r"ghp_(\w|\w\w)+[^\w]")])
    with pytest.raises(TimeoutError, match=r"capture.patterns\[0\]"):
        redactor.text(f"use {secret}")

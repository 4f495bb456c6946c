"""The table of outcomes, each status and each reason at each step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.delivery.outcome import Outcome, Step, Verdict, judge, retry_after_s
from honchod.errors import CallFailed, CallReason

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
STATUSES = range(300, 600)


def status_verdict(status: int, step: Step, retry_after: str | None = None) -> Verdict:
    failure = CallFailed(CallReason.STATUS, status=status, retry_after=retry_after)
    return judge(failure, step, now_ms=NOW_MS)


def expected_outcome(status: int, step: Step, *, asks_to_wait: bool) -> Outcome:
    """The table of the design, written down a second time."""
    if status == 429 or (status == 503 and asks_to_wait):
        return Outcome.THROTTLED
    if status == 503:
        return Outcome.UNREACHABLE
    if status in (401, 403):
        return Outcome.REFUSED
    if status in (400, 413, 422) and step is Step.SEND:
        return Outcome.REJECTED
    if status in (408, 409) or status >= 500:
        return Outcome.UNKNOWN
    return Outcome.MISDIRECTED


@pytest.mark.parametrize("step", Step)
@pytest.mark.parametrize("retry_after", [None, "7"])
def test_every_status_has_the_outcome_of_the_table(step: Step, retry_after: str | None) -> None:
    for status in STATUSES:
        verdict = status_verdict(status, step, retry_after)
        assert verdict.outcome is expected_outcome(status, step, asks_to_wait=retry_after is not None), status
        assert verdict.status == status
        assert verdict.code == f"http_{status}"


@pytest.mark.parametrize("step", Step)
def test_only_what_was_sent_can_have_landed(step: Step) -> None:
    may_land = {408, 409, *range(500, 600)}
    for status in STATUSES:
        assert status_verdict(status, step).landed == (step is Step.SEND and status in may_land), status


def test_a_throttled_503_may_have_landed_but_a_429_has_not() -> None:
    assert status_verdict(503, Step.SEND, "3").landed
    assert not status_verdict(429, Step.SEND, "3").landed


@pytest.mark.parametrize("step", Step)
def test_only_a_complete_500_ends_the_servers_work(step: Step) -> None:
    assert [status for status in STATUSES if status_verdict(status, step).over] == [500]


@pytest.mark.parametrize("step", Step)
def test_a_proxy_in_front_of_nobody_is_no_answer(step: Step) -> None:
    assert [status for status in STATUSES if not status_verdict(status, step).answered] == [502, 503, 504]
    assert status_verdict(503, step, "3").answered


@pytest.mark.parametrize("step", Step)
def test_only_throttling_reads_retry_after(step: Step) -> None:
    told = [status for status in STATUSES if status_verdict(status, step, "7").retry_after_s is not None]
    assert told == [429, 503]
    assert status_verdict(429, step, "soon").retry_after_s is None
    assert status_verdict(429, step, "soon").outcome is Outcome.THROTTLED
    assert status_verdict(503, step, "soon").outcome is Outcome.UNREACHABLE


REASONS = {
    (CallReason.UNREACHABLE, Step.LOOK): (Outcome.UNREACHABLE, False, False),
    (CallReason.UNREACHABLE, Step.PREPARE): (Outcome.UNREACHABLE, False, False),
    (CallReason.UNREACHABLE, Step.SEND): (Outcome.UNREACHABLE, False, False),
    (CallReason.TIMEOUT, Step.LOOK): (Outcome.UNKNOWN, False, False),
    (CallReason.TIMEOUT, Step.PREPARE): (Outcome.UNKNOWN, False, False),
    (CallReason.TIMEOUT, Step.SEND): (Outcome.UNKNOWN, True, False),
    (CallReason.CUT, Step.LOOK): (Outcome.UNKNOWN, False, False),
    (CallReason.CUT, Step.PREPARE): (Outcome.UNKNOWN, False, False),
    (CallReason.CUT, Step.SEND): (Outcome.UNKNOWN, True, False),
    (CallReason.NOT_HONCHO, Step.LOOK): (Outcome.UNKNOWN, False, False),
    (CallReason.NOT_HONCHO, Step.PREPARE): (Outcome.UNKNOWN, False, False),
    (CallReason.NOT_HONCHO, Step.SEND): (Outcome.UNKNOWN, True, False),
    (CallReason.EMPTY, Step.LOOK): (Outcome.UNKNOWN, False, True),
    (CallReason.EMPTY, Step.PREPARE): (Outcome.UNKNOWN, False, True),
    (CallReason.EMPTY, Step.SEND): (Outcome.UNKNOWN, True, True),
}


@pytest.mark.parametrize(("reason", "step"), REASONS)
def test_every_failure_without_a_status_has_its_outcome(reason: CallReason, step: Step) -> None:
    verdict = judge(CallFailed(reason), step, now_ms=NOW_MS)
    assert (verdict.outcome, verdict.landed, verdict.answered) == REASONS[reason, step]
    assert (verdict.code, verdict.status, verdict.over) == (reason.value, None, False)


def test_the_tables_cover_every_reason_and_step() -> None:
    told = {reason for reason, _ in REASONS} | {CallReason.STATUS, CallReason.LOCAL}
    assert told == set(CallReason)
    assert len(REASONS) == (len(CallReason) - 2) * len(Step)


@pytest.mark.parametrize("step", Step)
def test_what_cannot_be_sent_is_the_messages_fault_only_when_sending(step: Step) -> None:
    verdict = judge(CallFailed(CallReason.LOCAL), step, now_ms=NOW_MS)
    assert verdict.outcome is (Outcome.REJECTED if step is Step.SEND else Outcome.MISDIRECTED)
    assert not verdict.landed


def test_a_page_in_place_of_an_answer_keeps_its_status() -> None:
    verdict = judge(CallFailed(CallReason.NOT_HONCHO, status=200), Step.SEND, now_ms=NOW_MS)
    assert (verdict.status, verdict.code) == (200, "not_honcho")


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        (None, None),
        ("0", 0.0),
        ("30", 30.0),
        (" 2.5 ", 2.5),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("-inf", None),
        ("soon", None),
        ("", None),
        ("9" * 400, None),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        ("Mon, 02 Mar 2026 09:00:10 -0000", 10.0),
        ("Mon, 02 Mar 2026 10:00:20 +0100", 20.0),
        (format_datetime(NOW, usegmt=True), 0.0),
        (format_datetime(NOW - timedelta(seconds=1), usegmt=True), None),
        ("Mon, 99 Mar 2026 09:00:00 GMT", None),
        ("Mon, 02 Mar 99999 09:00:00 GMT", None),
    ],
)
def test_retry_after_is_a_number_or_a_date_in_the_future(header: str | None, wait_s: float | None) -> None:
    assert retry_after_s(header, now_ms=NOW_MS) == wait_s


@given(st.text(max_size=40), st.integers(0, 1 << 42))
def test_no_header_breaks_the_judgement(header: str, now_ms: int) -> None:
    wait_s = retry_after_s(header, now_ms=now_ms)
    assert wait_s is None or 0 <= wait_s < float("inf")

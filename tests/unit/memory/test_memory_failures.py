"""What an agent is told when Honcho fails: what failed, and whether trying again helps."""

from __future__ import annotations

import pytest

from honchod.delivery.outcome import Step, judge
from honchod.errors import CallFailed, CallReason, HonchoAway, HonchoRefused
from honchod.memory.failures import MODEL_RETRY_S, RETRY_S, problem_of, shut


def told(failure: CallFailed) -> HonchoAway | HonchoRefused:
    problem = problem_of(judge(failure, Step.LOOK, now_ms=0), "search")
    assert isinstance(problem, HonchoAway | HonchoRefused)
    assert problem.detail.startswith("search: ")
    return problem


@pytest.mark.parametrize("status", [401, 403, 404, 405, 422])
def test_what_no_second_try_mends_says_so(status: int) -> None:
    problem = told(CallFailed(CallReason.STATUS, status=status))
    assert isinstance(problem, HonchoRefused)
    assert "does not help" in problem.detail
    assert problem.retry_after_s is None


@pytest.mark.parametrize(
    ("failure", "retry_after_s"),
    [
        (CallFailed(CallReason.UNREACHABLE), RETRY_S),
        (CallFailed(CallReason.TIMEOUT), RETRY_S),
        (CallFailed(CallReason.STATUS, status=500), RETRY_S),
        (CallFailed(CallReason.STATUS, status=429, retry_after="30"), 30.0),
        (CallFailed(CallReason.STATUS, status=503, retry_after="7"), 7.0),
        (CallFailed(CallReason.EMPTY, status=200), MODEL_RETRY_S),
    ],
)
def test_what_passes_says_when_to_try_again(failure: CallFailed, retry_after_s: float) -> None:
    problem = told(failure)
    assert isinstance(problem, HonchoAway)
    assert problem.retry_after_s == retry_after_s
    assert "try" in problem.detail


def test_a_call_that_was_not_made_is_told_too() -> None:
    assert shut("search").retry_after_s == RETRY_S

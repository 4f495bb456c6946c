"""Whether a destination may be asked."""

from __future__ import annotations

import pytest
from recall_hosts import HandClock

from honchod.delivery.circuit import Circuit, CircuitState
from honchod.delivery.outcome import Step, judge
from honchod.delivery.retry import Policy
from honchod.errors import CallFailed, CallReason
from honchod.recall.gate import PAUSE_MAX_S, Gates

POLICY = Policy()


def gates(circuit: Circuit | None = None) -> tuple[Gates, HandClock]:
    clock = HandClock()
    return Gates(lambda _: circuit, lambda: POLICY, clock), clock


def failed(opened: Gates, status: int = 503, *, retry_after: str | None = None) -> bool:
    failure = CallFailed(CallReason.STATUS, status=status, retry_after=retry_after)
    return opened.failed("d", judge(failure, Step.LOOK, now_ms=0))


@pytest.mark.parametrize(
    ("state", "until_in_ms", "shut"),
    [
        (CircuitState.CLOSED, 0, False),
        (CircuitState.CLOSED, 60_000, False),
        (CircuitState.HALF_OPEN, 0, True),
        (CircuitState.OPEN, 60_000, True),
        (CircuitState.OPEN, 0, False),
        (CircuitState.OPEN, -1, False),
        (CircuitState.OPEN, POLICY.longest_wait_ms + 1_000, False),
    ],
)
def test_what_delivery_knows_counts(state: CircuitState, until_in_ms: int, shut: bool) -> None:
    opened, clock = gates(Circuit(4, state, until_ms=HandClock().wall_ms + until_in_ms))
    assert clock.now_ms() == HandClock().wall_ms
    assert opened.is_shut("d") is shut
    assert opened.is_failing("d") is shut


def test_a_destination_that_nobody_delivers_to_may_be_asked() -> None:
    assert not gates()[0].is_shut("d")


def test_a_dead_server_is_left_alone_ever_longer_and_then_asked_again() -> None:
    opened, clock = gates()
    pauses = []
    for _ in range(10):
        assert failed(opened)
        assert opened.is_shut("d")
        assert not opened.is_shut("elsewhere")
        before = clock.mono_s
        while opened.is_shut("d"):
            clock.pass_s(0.25)
        pauses.append(clock.mono_s - before)
        assert opened.is_failing("d")
    assert pauses[:3] == [1, 2, 4]
    assert pauses[-1] == PAUSE_MAX_S
    opened.answered("d")
    assert not opened.is_failing("d")


def test_a_pause_that_was_asked_for_is_kept_and_capped() -> None:
    opened, clock = gates()
    assert failed(opened, 429, retry_after="300")
    clock.pass_s(299)
    assert opened.is_shut("d")
    clock.pass_s(1)
    assert not opened.is_shut("d")
    assert failed(opened, 429, retry_after="999999")
    clock.pass_s(POLICY.retry_after_cap_s)
    assert not opened.is_shut("d")


@pytest.mark.parametrize(
    ("status", "away"), [(401, True), (503, True), (502, True), (500, False), (404, False), (422, False)]
)
def test_only_news_of_the_destination_shut_it(status: int, away: bool) -> None:
    opened, _ = gates()
    assert failed(opened, status) is away
    assert opened.is_shut("d") is away
    assert opened.is_failing("d") is away


@pytest.mark.parametrize(
    "reason", [CallReason.UNREACHABLE, CallReason.TIMEOUT, CallReason.CUT, CallReason.NOT_HONCHO]
)
def test_silence_is_news_of_the_destination(reason: CallReason) -> None:
    opened, _ = gates()
    assert opened.failed("d", judge(CallFailed(reason), Step.LOOK, now_ms=0))

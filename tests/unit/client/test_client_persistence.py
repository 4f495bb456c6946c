"""When a failed call is tried again, and what the caller gets when it is not."""

from __future__ import annotations

import pytest

from honchod.client import calls, errors
from honchod.client.persistence import BUSY_WAIT_S, IMMEDIATE_REPEATS, POLL_FIRST_S, POLL_LAST_S, Persistence

AWAY = errors.NotReachable("/s", "refused")
CUT = errors.NoAnswer("/s", "cut")
SLOW = errors.NoAnswer("/s", "time is up", timed_out=True)
RESET = calls.other("POST", "/v1/sessions/reset", {}, None)


def full(retry_after_s: float | None) -> errors.OutboxFull:
    return errors.OutboxFull(507, "outbox_full", "full", retry_after_s)


def test_without_leave_to_wait_a_daemon_that_is_away_is_told_at_once() -> None:
    with pytest.raises(errors.NotReachable):
        Persistence(calls.info(), 0, now_s=100).delay_after(AWAY, 100)


def test_a_daemon_that_is_away_is_looked_for_until_the_time_is_up() -> None:
    persistence = Persistence(calls.info(), 3, now_s=100)
    now_s = 100.0
    delays: list[float] = []

    def look_again() -> None:
        nonlocal now_s
        while True:
            delays.append(persistence.delay_after(AWAY, now_s))
            now_s += delays[-1]

    with pytest.raises(errors.NotReachable):
        look_again()
    assert delays == sorted(delays)
    assert delays[-1] == POLL_LAST_S
    assert 103 - POLL_LAST_S <= now_s <= 103


def test_a_cut_connection_is_repeated_at_once_but_not_for_ever() -> None:
    persistence = Persistence(calls.worker("wake"), 0, now_s=0)
    for _ in range(IMMEDIATE_REPEATS):
        assert persistence.delay_after(CUT, 0) == 0
    with pytest.raises(errors.NoAnswer):
        persistence.delay_after(CUT, 0)


def test_a_call_that_must_not_be_done_twice_is_never_repeated_after_a_lost_answer() -> None:
    with pytest.raises(errors.NoAnswer):
        Persistence(RESET, 60, now_s=0).delay_after(CUT, 0)
    assert Persistence(RESET, 60, now_s=0).delay_after(AWAY, 0) > 0


def test_a_lost_answer_stays_known_when_the_daemon_is_away_afterwards() -> None:
    persistence = Persistence(calls.worker("wake"), 0, now_s=0)
    persistence.delay_after(CUT, 0)
    with pytest.raises(errors.NoAnswer):
        persistence.delay_after(AWAY, 0)


def test_an_answer_that_took_too_long_is_repeated_only_with_leave_to_wait() -> None:
    with pytest.raises(errors.NoAnswer):
        Persistence(calls.info(), 0, now_s=0).delay_after(SLOW, 10)
    assert Persistence(calls.info(), 60, now_s=0).delay_after(SLOW, 10) > 0


@pytest.mark.parametrize(("retry_after_s", "delay_s"), [(4.0, 4.0), (0.0, POLL_FIRST_S), (None, BUSY_WAIT_S)])
def test_retry_after_is_honoured(retry_after_s: float | None, delay_s: float) -> None:
    assert Persistence(calls.info(), 5, now_s=0).delay_after(full(retry_after_s), 0.5) == delay_s


def test_a_wait_longer_than_the_caller_allows_is_told_at_once() -> None:
    with pytest.raises(errors.OutboxFull):
        Persistence(calls.info(), 5, now_s=0).delay_after(full(4.0), 1.5)


@pytest.mark.parametrize(
    "error",
    [
        errors.NotAllowed("no"),
        errors.BadAnswer("html"),
        errors.IdConflict(409, "id_conflict", "m1"),
        errors.Rejected(500, "internal", "oops"),
    ],
)
def test_what_waiting_cannot_mend_is_told_at_once(error: errors.ClientError) -> None:
    with pytest.raises(type(error)):
        Persistence(calls.info(), 60, now_s=0).delay_after(error, 0)

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.delivery.retry import Policy, backoff_s, ceiling_s, refused_s, throttle_s
from honchod.outbox.recovery import SuspectWaits

POLICY = Policy(backoff_base_s=1.0, backoff_cap_s=300.0, retry_after_cap_s=3600.0)
FAILURES = st.integers(-3, 10_000)
SEEDS = st.integers(0, 2**32)


def test_the_ceiling_doubles_up_to_the_cap() -> None:
    assert [ceiling_s(failures, POLICY) for failures in range(1, 12)] == [
        1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300,
    ]  # fmt: skip
    assert ceiling_s(0, POLICY) == ceiling_s(-5, POLICY) == 1
    assert ceiling_s(100_000, POLICY) == 300


@given(FAILURES, SEEDS)
def test_backoff_lies_between_nothing_and_the_ceiling(failures: int, seed: int) -> None:
    assert 0 <= backoff_s(failures, POLICY, Random(seed)) <= ceiling_s(failures, POLICY)


def test_jitter_is_full() -> None:
    random = Random(7)
    waits = [backoff_s(9, POLICY, random) for _ in range(400)]
    assert min(waits) < 10
    assert max(waits) > 246


@given(st.floats(0, 3600), FAILURES, SEEDS)
def test_a_throttled_destination_waits_no_less_than_it_asked_for(
    asked_s: float, failures: int, seed: int
) -> None:
    assert throttle_s(asked_s, failures, POLICY, Random(seed)) >= asked_s


@given(st.none() | st.floats(0, 1e12), FAILURES, SEEDS)
def test_no_throttle_is_longer_than_the_cap(asked_s: float | None, failures: int, seed: int) -> None:
    assert throttle_s(asked_s, failures, POLICY, Random(seed)) <= 3600


@pytest.mark.parametrize(("asked_s", "waits_s"), [(10, 10), (3600, 3600), (86_400, 3600)])
def test_a_throttled_destination_waits_as_long_as_it_asked_for_up_to_the_cap(
    asked_s: float, waits_s: float
) -> None:
    assert throttle_s(asked_s, 1, POLICY, Random(1)) == waits_s


def test_a_throttle_without_a_time_is_a_backoff() -> None:
    assert throttle_s(None, 3, POLICY, Random(1)) == backoff_s(3, POLICY, Random(1))


@pytest.mark.parametrize(
    ("refusals", "minutes"), [(-1, 1), (0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 15), (6, 15), (99, 15)]
)
def test_a_refused_key_is_tried_after_1_2_4_8_and_15_minutes(refusals: int, minutes: int) -> None:
    assert refused_s(refusals) == minutes * 60


@given(st.none() | st.floats(0, 1e12), FAILURES, SEEDS)
def test_the_longest_wait_bounds_every_wait(asked_s: float | None, failures: int, seed: int) -> None:
    policy = Policy(backoff_cap_s=10, retry_after_cap_s=20, settle_delay_s=5)
    waits = (
        backoff_s(failures, policy, Random(seed)),
        throttle_s(asked_s, failures, policy, Random(seed)),
        refused_s(failures),
        3600.0,
    )
    assert policy.longest_wait_ms >= (max(waits) + policy.settle_delay_s) * 1000


def test_times_for_the_database_are_whole_milliseconds() -> None:
    assert Policy(settle_delay_s=0.25).settle_delay_ms == 250
    assert POLICY.settle_delay_ms == 15_000


def test_a_suspect_waits_a_minute_at_first_and_an_hour_at_last() -> None:
    assert POLICY.suspect_waits == SuspectWaits(base_ms=60_000, cap_ms=3_600_000)


def test_where_backoffs_are_short_so_are_the_waits_of_a_suspect() -> None:
    assert Policy(backoff_cap_s=1.0).suspect_waits == SuspectWaits(base_ms=200, cap_ms=12_000)
    assert Policy(backoff_cap_s=0.001).suspect_waits.base_ms == 1

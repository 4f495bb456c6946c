from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from datetime import datetime

import pytest
import time_machine
from hypothesis import given
from hypothesis import strategies as st

import honchod.ids
from honchod.clock import SystemClock, rfc3339
from honchod.ids import uuid7


def test_an_id_is_a_uuid_of_version_7_with_the_time_in_front() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(uuid7())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert before <= made.int >> 80 <= before + 60_000


def test_ids_are_ordered_and_unique() -> None:
    made = [uuid7() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_ids_are_ordered_when_the_clock_stands_still_or_goes_back() -> None:
    with time_machine.travel(1_900_000_000, tick=False) as clock:
        made = [uuid7() for _ in range(5_000)]
        clock.move_to(1_800_000_000)
        made += [uuid7() for _ in range(100)]
    assert made == sorted(set(made))
    assert {uuid.UUID(one).version for one in made} == {7}


def test_ids_of_several_threads_are_unique_and_ordered_within_each() -> None:
    made: list[list[str]] = [[] for _ in range(4)]

    def make(into: list[str]) -> None:
        into.extend(uuid7() for _ in range(3_000))

    threads = [threading.Thread(target=make, args=(one,)) for one in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == sorted(one) for one in made)
    assert len(set().union(*made)) == 12_000


@pytest.fixture(autouse=True)
def ids_of_the_present() -> Iterator[None]:
    """A test that travelled ahead leaves the generator ahead: bring it back to the present."""
    before = honchod.ids._last
    yield
    honchod.ids._last = before


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_772_442_000_000, "2026-03-02T09:00:00.000Z"),
        (1_772_442_000_007, "2026-03-02T09:00:00.007Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ],
)
def test_a_time_on_the_wire_is_utc_with_milliseconds(at_ms: int, text: str) -> None:
    assert rfc3339(at_ms) == text


@given(st.integers(0, 253_402_300_799_999))
def test_every_millisecond_up_to_the_year_9999_survives_the_wire(at_ms: int) -> None:
    assert round(datetime.fromisoformat(rfc3339(at_ms)).timestamp() * 1000) == at_ms


def test_the_system_clock_tells_milliseconds_and_a_time_that_only_grows() -> None:
    clock = SystemClock()
    assert abs(clock.now_ms() - time.time() * 1000) < 60_000
    assert clock.monotonic_s() <= clock.monotonic_s()

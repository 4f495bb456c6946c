from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from honchod.delivery import circuit as circuits
from honchod.delivery.circuit import SILENT_LIMIT, Circuit, CircuitState, Reason

LIMIT = 4
LONGEST_MS = 3_615_000
CLOSED = Circuit(width=LIMIT)
EVENTS = st.sampled_from(
    ["start", "back", "succeeded", "answered", "throttled", "refused", "unreachable", "silent", "retried"]
)
STEPS = st.lists(st.tuples(EVENTS, st.integers(0, 3_600_000), st.integers(0, 900_000)), max_size=40)


def allows(circuit: Circuit, in_flight: int = 0, now_ms: int = 0) -> bool:
    return circuits.allows(circuit, in_flight=in_flight, now_ms=now_ms, longest_wait_ms=LONGEST_MS)


class Driver:
    """Plays events on a circuit the way the worker does: only lanes in flight come back with something."""

    def __init__(self) -> None:
        self.circuit = CLOSED
        self.in_flight = 0
        self.now_ms = 1_000_000
        self.asked_until_ms = 0
        """Until when somebody asked for a pause."""

    def play(self, event: str, wait_ms: int, passed_ms: int) -> None:
        self.now_ms += passed_ms
        until_ms = self.now_ms + wait_ms
        if event == "start":
            self.start()
        elif event == "retried":
            self.circuit = circuits.retried(self.circuit, now_ms=self.now_ms)
        elif self.in_flight:
            self.in_flight -= 1
            self.come_back(event, until_ms)

    def start(self) -> None:
        if allows(self.circuit, self.in_flight, self.now_ms):
            assert self.now_ms >= self.asked_until_ms, "a pause that was asked for was cut short"
            self.in_flight += 1
            if self.circuit.state is CircuitState.OPEN:
                self.circuit = circuits.probing(self.circuit)

    def come_back(self, event: str, until_ms: int) -> None:
        match event:
            case "back":
                self.circuit = circuits.unprobed(self.circuit)
            case "succeeded":
                self.circuit = circuits.succeeded(self.circuit, limit=LIMIT)
            case "answered":
                self.circuit = circuits.answered(self.circuit, limit=LIMIT)
            case "throttled":
                self.asked_until_ms = max(self.asked_until_ms, until_ms)
                self.circuit = circuits.throttled(self.circuit, until_ms=until_ms)
            case "refused":
                self.circuit = circuits.refused(self.circuit, until_ms=until_ms)
            case "unreachable":
                self.circuit = circuits.unreachable(self.circuit, until_ms=until_ms)
            case "silent":
                self.circuit = circuits.silent(self.circuit, until_ms=until_ms)


@given(STEPS)
@example([("start", 0, 0), ("start", 0, 0), ("throttled", 60_000, 0), ("unreachable", 1, 0), ("start", 0, 2)])
@example([("start", 0, 0), ("start", 0, 0), ("throttled", 90_000, 0), ("refused", 60_000, 0),
          ("retried", 0, 1), ("start", 0, 0)])  # fmt: skip
def test_whatever_happens_the_circuit_keeps_its_invariants(steps: list[tuple[str, int, int]]) -> None:
    driver = Driver()
    for event, wait_ms, passed_ms in steps:
        driver.play(event, wait_ms, passed_ms)
        circuit = driver.circuit
        assert 1 <= circuit.width <= LIMIT
        assert (circuit.state is CircuitState.CLOSED) == (circuit.reason is Reason.NONE)
        assert circuit.failures >= (circuit.state is not CircuitState.CLOSED)
        assert driver.in_flight <= LIMIT
        assert circuit.state is not CircuitState.HALF_OPEN or driver.in_flight == 1


@given(STEPS)
def test_a_circuit_always_comes_back(steps: list[tuple[str, int, int]]) -> None:
    driver = Driver()
    for step in steps:
        driver.play(*step)
    while driver.in_flight:
        driver.play("back", 0, 0)
    driver.now_ms += LONGEST_MS
    assert allows(driver.circuit, 0, driver.now_ms)
    driver.play("start", 0, 0)
    driver.play("succeeded", 0, 0)
    assert driver.circuit.state is CircuitState.CLOSED


def test_a_closed_circuit_lets_as_many_through_as_it_is_wide() -> None:
    assert [allows(CLOSED, in_flight) for in_flight in range(6)] == [True] * 4 + [False] * 2


def test_an_open_circuit_lets_one_through_when_its_time_is_up() -> None:
    opened = circuits.unreachable(CLOSED, until_ms=5_000)
    assert not allows(opened, 0, 4_999)
    assert allows(opened, 0, 5_000)
    assert not allows(opened, 1, 5_000)
    assert not allows(circuits.probing(opened), 0, 9_000)


def test_a_time_that_no_wait_can_reach_counts_as_up() -> None:
    opened = circuits.unreachable(CLOSED, until_ms=LONGEST_MS + 1)
    assert allows(opened, 0, 0)
    assert not allows(opened, 0, 1)


def test_after_an_outage_the_width_doubles_with_each_success() -> None:
    circuit = circuits.probing(circuits.unreachable(CLOSED, until_ms=0))
    widths = []
    for _ in range(4):
        circuit = circuits.succeeded(circuit, limit=LIMIT)
        widths.append(circuit.width)
    assert widths == [1, 2, 4, 4]


def test_throttling_halves_the_width_and_never_below_one() -> None:
    circuit = CLOSED
    for width in (2, 1, 1):
        circuit = circuits.probing(circuits.throttled(circuit, until_ms=1))
        assert circuit.width == width


def test_a_second_throttle_can_only_lengthen_the_pause() -> None:
    opened = circuits.throttled(CLOSED, until_ms=60_000)
    assert circuits.throttled(opened, until_ms=1_000).until_ms == 60_000
    assert circuits.throttled(opened, until_ms=90_000).until_ms == 90_000


@pytest.mark.parametrize("late", [circuits.refused, circuits.unreachable, circuits.silent])
def test_what_comes_back_late_does_not_shorten_a_pause_that_was_asked_for(late) -> None:  # type: ignore[no-untyped-def]
    paused = circuits.throttled(CLOSED, until_ms=60_000)
    assert late(paused, until_ms=1_000) == paused


def test_lanes_that_fail_together_are_one_failure() -> None:
    first = circuits.unreachable(CLOSED, until_ms=1_000)
    assert circuits.unreachable(first, until_ms=2_000) == first
    again = circuits.unreachable(circuits.probing(first), until_ms=3_000)
    assert (again.failures, again.until_ms) == (2, 3_000)


def test_another_reason_counts_from_one() -> None:
    opened = circuits.unreachable(circuits.probing(circuits.unreachable(CLOSED, until_ms=1)), until_ms=2)
    assert circuits.failures_for(opened, Reason.UNREACHABLE) == 3
    assert circuits.failures_for(opened, Reason.REFUSED) == 1
    assert circuits.refused(opened, until_ms=3).failures == 1


def test_silence_opens_after_three_in_a_row_and_any_answer_ends_the_row() -> None:
    circuit = CLOSED
    for count in range(1, SILENT_LIMIT):
        circuit = circuits.silent(circuit, until_ms=1)
        assert (circuit.state, circuit.silent) == (CircuitState.CLOSED, count)
    assert circuits.answered(circuit, limit=LIMIT) == CLOSED
    assert circuits.succeeded(circuit, limit=LIMIT) == CLOSED
    opened = circuits.silent(circuit, until_ms=9)
    assert (opened.state, opened.reason, opened.until_ms) == (CircuitState.OPEN, Reason.SILENT, 9)
    assert circuits.silent(opened, until_ms=20) == opened


def test_a_silent_probe_opens_again_at_once() -> None:
    probe = circuits.probing(circuits.unreachable(CLOSED, until_ms=1))
    opened = circuits.silent(probe, until_ms=7)
    assert (opened.state, opened.until_ms) == (CircuitState.OPEN, 7)


def test_an_answer_closes_a_probed_circuit_and_an_open_one_ignores_late_news() -> None:
    opened = circuits.refused(CLOSED, until_ms=60_000)
    assert circuits.answered(circuits.probing(opened), limit=LIMIT).state is CircuitState.CLOSED
    assert circuits.succeeded(opened, limit=LIMIT) == opened
    assert circuits.answered(opened, limit=LIMIT) == opened


def test_a_probe_that_asked_nothing_leaves_the_circuit_as_it_was() -> None:
    opened = circuits.refused(CLOSED, until_ms=60_000)
    assert circuits.unprobed(circuits.probing(opened)) == opened
    assert circuits.unprobed(CLOSED) == CLOSED


def test_asking_again_probes_at_once_but_a_pause_that_was_asked_for_stands() -> None:
    refused = circuits.refused(CLOSED, until_ms=60_000)
    assert circuits.retried(refused, now_ms=5) == replace(refused, until_ms=5)
    throttled = circuits.throttled(CLOSED, until_ms=60_000)
    assert circuits.retried(throttled, now_ms=5) == throttled
    assert circuits.retried(CLOSED, now_ms=5) == CLOSED

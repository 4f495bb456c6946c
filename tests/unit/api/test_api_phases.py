from __future__ import annotations

import pytest

from honchod.api.phases import CLOSING_S, Phase, allowed_s, first_to_go, sweep_interval_s
from honchod.ops.views import LimitsView


def limits(arrival_s: float = 30, idle_s: float = 60) -> LimitsView:
    return LimitsView(4 * 2**20, 1000, 512, 256, arrival_s, idle_s)


@pytest.mark.parametrize(
    ("phase", "seconds"),
    [
        (Phase.IDLE, 60),
        (Phase.ARRIVING, 30),
        (Phase.SENDING, 30),
        (Phase.WORKING, None),
        (Phase.CLOSING, CLOSING_S),
    ],
)
def test_every_wait_for_the_peer_is_bounded_and_the_daemons_own_work_is_not(
    phase: Phase, seconds: float | None
) -> None:
    assert allowed_s(phase, limits()) == seconds


def test_sweep_is_never_more_than_a_tenth_of_the_shortest_wait_late() -> None:
    assert sweep_interval_s(limits(arrival_s=0.5)) == pytest.approx(0.05)
    assert sweep_interval_s(limits(idle_s=2)) == pytest.approx(0.2)
    assert sweep_interval_s(limits()) == 1.0
    assert sweep_interval_s(limits(arrival_s=0.001)) == 0.01


def test_peer_that_was_waited_for_longest_goes_first() -> None:
    connections = [
        (Phase.IDLE, 9.0, "idle"),
        (Phase.IDLE, 8.0, "longest idle"),
        (Phase.SENDING, 8.5, "sending"),
        (Phase.ARRIVING, 8.2, "arriving"),
        (Phase.WORKING, 0.0, "working"),
        (Phase.CLOSING, 0.0, "closing"),
    ]
    assert first_to_go(connections) == "longest idle"


@pytest.mark.parametrize("phase", [Phase.ARRIVING, Phase.SENDING])
def test_slow_peer_goes_before_one_that_has_just_come(phase: Phase) -> None:
    assert first_to_go([(Phase.IDLE, 2.0, "new"), (phase, 1.0, "slow")]) == "slow"


def test_nobody_goes_while_the_daemon_is_at_work_for_all() -> None:
    assert first_to_go([(Phase.WORKING, 1.0, "a"), (Phase.CLOSING, 0.0, "b")]) is None
    assert first_to_go([]) is None

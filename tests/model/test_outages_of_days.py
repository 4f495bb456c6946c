"""Outages of days, in virtual time: nothing dies, nothing is spent, few requests are made, then it drains."""

from __future__ import annotations

import pytest
from scripted_honcho import LATENCY_S, Fate
from world import World

from honchod.delivery import housekeeping, worker

HOUR_S = 3_600.0
DAY_S = 24 * HOUR_S
SESSIONS = 12
EACH = 5


@pytest.fixture(autouse=True)
def quiet_week(monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks around every minute, although it need not, would take a minute of real time for a week."""
    monkeypatch.setattr(housekeeping, "HOUSEKEEPING_S", 6 * HOUR_S)
    monkeypatch.setattr(worker, "IDLE_MAX_S", 6 * HOUR_S)


def write(world: World) -> None:
    for number in range(EACH):
        for session in range(SESSIONS):
            world.append("h", f"s{session}", (f"id {number}", f"m{number}"))


def check_nothing_spent(world: World) -> None:
    assert world.waiting() == SESSIONS * EACH
    assert world.rows("SELECT count(*) FROM event WHERE state <> 'queued' OR attempts > 0") == [(0,)]


def check_drain(world: World) -> None:
    """All is there in order; one lane goes first, then one, then two, and never more than may be."""
    began_s = world.loop.time()
    world.run_until_quiet()
    for session in range(SESSIONS):
        assert world.landed(f"s{session}") == [f"m{number}" for number in range(EACH)]
    assert world.remote.faults == []
    times = sorted(at_s for at_s, _, _ in world.remote.sends if at_s >= began_s)
    # How many are under way when each is sent: an answer takes the way there and the way back.
    widths = [sum(at_s - 2 * LATENCY_S < other <= at_s for other in times) for at_s in times]
    assert max(widths[:2]) == 1
    assert max(widths[:4]) <= 2
    assert max(widths) == world.settings.concurrency


def test_a_bad_key_for_a_week_spends_nothing(world: World) -> None:
    world.remote.weather = Fate.REFUSED
    write(world)
    world.pass_time(7 * DAY_S)
    check_nothing_spent(world)
    assert world.remote.calls < 7 * 24 * 4 + 10
    world.remote.weather = Fate.GOOD
    check_drain(world)


@pytest.mark.parametrize("fate", [Fate.THROTTLED, Fate.THROTTLED_503])
def test_a_server_that_is_overrun_for_hours_is_asked_no_sooner_than_it_says(world: World, fate: Fate) -> None:
    """It says 20 s each time."""
    world.remote.weather = fate
    write(world)
    world.pass_time(6 * HOUR_S)
    check_nothing_spent(world)
    assert world.remote.calls <= 6 * HOUR_S / 20 + world.settings.concurrency
    world.remote.weather = Fate.GOOD
    check_drain(world)


@pytest.mark.parametrize("fate", [Fate.UNREACHABLE, Fate.DOWN_503])
def test_a_server_that_is_away_for_a_day_is_looked_for_now_and_then(world: World, fate: Fate) -> None:
    world.remote.weather = fate
    write(world)
    world.pass_time(DAY_S)
    check_nothing_spent(world)
    # Half of a backoff's 5 min on average, and no more than one lane at a time.
    assert world.remote.calls < 24 * 12 * 3
    world.remote.weather = Fate.GOOD
    check_drain(world)

"""The worker's behaviour over minutes and days, in milliseconds of real time."""

from __future__ import annotations

import pytest
from scripted_honcho import BAD, POISON, Fate
from world import DAY_MS, World


def write(world: World, session: str, *contents: str, host: str = "h") -> None:
    world.append(host, session, *((f"id {content}", content) for content in contents))


def states(world: World) -> dict[str, str]:
    return dict(world.rows("SELECT content, state FROM event ORDER BY id"))


def test_what_was_written_is_delivered_in_order(world: World) -> None:
    write(world, "s", *(f"m{n}" for n in range(20)))
    write(world, "t", "x", host="g")
    world.pass_time(2.0)
    assert world.landed("s") == [f"m{n}" for n in range(20)]
    assert world.landed("t") == ["x"]
    assert world.remote.faults == []


UNKNOWN = [
    fate
    for fate in Fate
    if fate.name.startswith(("FAILED_500", "CONFLICT", "PROXY", "CUT", "TIMEOUT", "PORTAL"))
]


@pytest.mark.parametrize("fate", UNKNOWN)
def test_an_attempt_of_unknown_outcome_ends_up_there_once(world: World, fate: Fate) -> None:
    write(world, "s", "first")
    world.pass_time(1.0)
    world.remote.script.append(fate)
    write(world, "s", "second", "third")
    world.run_until_quiet()
    world.pass_time(60.0)
    assert world.landed("s") == ["first", "second", "third"]
    assert world.remote.faults == []


@pytest.mark.parametrize("fate", Fate)
def test_whatever_happens_to_a_call_the_message_arrives_once(world: World, fate: Fate) -> None:
    for place in range(6):
        world.remote.script.extend([Fate.GOOD] * place + [fate])
        write(world, "s", f"m{place}")
        world.run_until_quiet()
        world.remote.script.clear()
    world.pass_time(60.0)
    assert world.landed("s") == [f"m{n}" for n in range(6)]
    assert world.remote.faults == []


MOMENTS_S = [0.0, 0.03, 0.07, 0.12, 0.17, 0.22, 0.27, 0.32, 1.0]
"""In the middle of each step of a delivery, and between any two of them."""


@pytest.mark.parametrize("after_s", MOMENTS_S)
@pytest.mark.parametrize("fate", [Fate.GOOD, Fate.CUT_COMMIT_LATE, Fate.TIMEOUT_AFTER_COMMIT])
def test_a_death_at_any_moment_loses_nothing_and_doubles_nothing(
    world: World, after_s: float, fate: Fate
) -> None:
    world.remote.script.extend([Fate.GOOD, fate])
    write(world, "s", "a", "b")
    world.pass_time(after_s)
    world.crash()
    world.start()
    write(world, "s", "c")
    world.run_until_quiet()
    world.pass_time(30.0)
    assert world.landed("s") == ["a", "b", "c"]
    assert world.remote.faults == []


@pytest.mark.parametrize("after_s", MOMENTS_S)
@pytest.mark.parametrize("fate", [Fate.GOOD, Fate.CUT, Fate.CUT_COMMIT_LATE, Fate.TIMEOUT_AFTER_COMMIT])
def test_a_conclusion_that_was_forgotten_never_arrives(world: World, after_s: float, fate: Fate) -> None:
    """One that may have left already is not forgotten, and that is said."""
    world.remote.script.extend([Fate.GOOD, fate])
    world.conclude("h", "s", "id 1", "a conclusion")
    world.pass_time(after_s)
    forgotten = world.forget("h", "id 1")
    write(world, "s", "next")
    world.run_until_quiet()
    world.pass_time(30.0)
    assert world.landed("s") == (["next"] if forgotten else ["a conclusion", "next"])
    assert world.remote.faults == []


def test_a_stop_that_cuts_a_request_leaves_an_uncertain_lane_and_nothing_else(world: World) -> None:
    world.remote.script.extend([Fate.GOOD, Fate.TIMEOUT_AFTER_COMMIT])
    write(world, "s", "a")
    world.pass_time(0.5)
    world.stop(timeout_s=1.0)
    (lane,) = world.rows("SELECT uncertain, lease_id, losses FROM lane")
    assert tuple(lane) == (1, None, 0)
    world.start()
    world.run_until_quiet()
    assert world.landed("s") == ["a"]


@pytest.mark.parametrize(
    "fate", [Fate.UNREACHABLE, Fate.PROXY_502, Fate.FAILED_500, Fate.REFUSED, Fate.PORTAL]
)
def test_an_outage_of_hours_kills_no_message(world: World, fate: Fate) -> None:
    world.remote.weather = fate
    write(world, "s", "a", BAD)
    world.pass_time(2 * 3_600.0)
    assert set(states(world).values()) == {"queued"}
    assert world.remote.calls < 150
    world.remote.weather = Fate.GOOD
    world.run_until_quiet()
    assert states(world) == {"a": "delivered", BAD: "dead"}


def test_a_refused_key_is_asked_a_few_times_an_hour(world: World) -> None:
    world.remote.weather = Fate.REFUSED
    write(world, "s", "a")
    world.pass_time(3_600.0)
    assert 6 <= world.remote.calls <= 9
    before = world.remote.calls
    world.do(world.worker.wake())
    world.pass_time(1.0)
    assert world.remote.calls == before + 1


def test_a_pause_that_was_asked_for_is_kept_by_every_lane(world: World) -> None:
    world.remote.weather = Fate.THROTTLED
    for n in range(6):
        write(world, f"s{n}", "m")
    world.pass_time(1.0)
    asked, now_s = world.remote.calls, world.loop.time()
    world.pass_time(18.5)
    assert world.remote.calls == asked
    world.remote.weather = Fate.GOOD
    world.run_until_quiet()
    assert min(at_s for at_s, _, _ in world.remote.sends) > now_s + 18.5


def test_a_poisonous_message_dies_alone_of_its_own_faults(world: World) -> None:
    write(world, "s", *(f"m{n}" for n in range(5)), POISON, "m5", "m6")
    world.run_until_quiet()
    assert world.landed("s") == [f"m{n}" for n in range(7)]
    assert world.rows("SELECT content, last_error FROM event WHERE state = 'dead'") == [(POISON, "exhausted")]


def test_bad_messages_die_with_their_code_and_cost_their_neighbours_nothing(world: World) -> None:
    contents = [f"{BAD} {n}" if n in (0, 3, 4, 11) else f"m{n}" for n in range(16)]
    write(world, "s", *contents)
    world.run_until_quiet()
    assert world.landed("s") == [content for content in contents if BAD not in content]
    assert {row[0] for row in world.rows("SELECT last_error FROM event WHERE state = 'dead'")} == {
        "rejected_422"
    }
    assert world.rows("SELECT max(attempts) FROM event WHERE state = 'delivered'")[0][0] == 0


def turns(world: World, seconds: float) -> int:
    """How often the worker's loop goes round in so much time."""
    counted = 0
    lease = world.outbox.lease

    async def counting(*args: object, **more: object) -> object:
        nonlocal counted
        counted += 1
        return await lease(*args, **more)  # type: ignore[arg-type]

    world.outbox.lease = counting  # type: ignore[method-assign, assignment]
    world.pass_time(seconds)
    world.outbox.lease = lease  # type: ignore[method-assign]
    return counted


def test_an_idle_worker_rests(world: World) -> None:
    write(world, "s", "a")
    world.pass_time(5.0)
    assert turns(world, 300.0) < 60


def test_a_worker_whose_open_circuit_nobody_needs_rests(world: World) -> None:
    """Its time is up, nothing waits for it: that is no reason to look a hundred times a second."""
    world.remote.weather = Fate.UNREACHABLE
    write(world, "s", "a")
    world.pass_time(20.0)
    world.clock.jump(15 * DAY_MS)
    world.pass_time(100.0)
    assert states(world) == {"a": "dead"}
    assert turns(world, 300.0) < 60


def test_a_worker_that_waits_for_a_doubtful_lane_rests(world: World) -> None:
    world.remote.script.extend([Fate.GOOD, Fate.CUT_COMMIT_LATE])
    world.remote.weather = Fate.DOWN_503
    write(world, "s", "a")
    world.pass_time(2.0)
    assert turns(world, 10.0) < 40


def test_a_suspect_of_a_host_that_was_removed_keeps_nobody_awake(world: World) -> None:
    write(world, "s", "a", host="g")
    for _ in range(3):
        world.run_until_leased("s")
        world.crash()
        world.start()
    assert world.rows("SELECT losses FROM lane") == [(3,)]
    world.do(world.worker.use([world.routes["h"]]))
    world.pass_time(300.0)
    assert turns(world, 300.0) < 60
    world.do(world.worker.use(world.routes.values()))
    world.run_until_quiet()
    assert world.landed("s") == ["a"]


def test_a_clock_that_jumps_ahead_takes_no_lane_from_a_request_under_way(world: World) -> None:
    write(world, "s", "a")
    world.pass_time(1.0)
    world.remote.script.append(Fate.TIMEOUT_AFTER_COMMIT)
    write(world, "s", "b")
    world.pass_time(1.0)
    world.clock.jump(2 * DAY_MS)
    world.run_until_quiet()
    assert world.landed("s") == ["a", "b"]
    assert world.remote.faults == []


@pytest.mark.parametrize("days", [-1, 2])
def test_a_clock_that_jumps_stalls_nothing_and_looks_no_earlier(world: World, days: int) -> None:
    write(world, "s", "a")
    world.pass_time(1.0)
    world.remote.script.append(Fate.CUT_COMMIT_LATE)
    write(world, "s", "b")
    world.pass_time(1.0)
    world.clock.jump(days * DAY_MS)
    write(world, "s", "c")
    world.run_until_quiet(limit_s=200.0)
    world.pass_time(30.0)
    assert world.landed("s") == ["a", "b", "c"]
    assert world.remote.faults == []


def test_a_full_disk_ends_no_worker(world: World) -> None:
    world.remote.weather = Fate.UNREACHABLE
    write(world, "s", "a")
    world.pass_time(1.0)
    world.fill_disk()
    world.remote.weather = Fate.GOOD
    world.pass_time(30.0)
    world.free_disk()
    world.run_until_quiet()
    assert world.landed("s") == ["a"]
    assert world.remote.faults == []


def test_a_host_whose_url_changed_takes_what_waits_along(world: World) -> None:
    world.remote.weather = Fate.UNREACHABLE
    write(world, "s", "a")
    world.pass_time(5.0)
    world.remote.weather = Fate.GOOD
    moved = world.moved("h")
    world.do(world.worker.use([moved, world.routes["g"]]))
    world.run_until_quiet(limit_s=100.0)
    assert world.landed("s") == ["a"]


def test_pausing_sends_nothing_and_resuming_goes_on(world: World) -> None:
    world.worker.pause()
    write(world, "s", "a")
    world.pass_time(600.0)
    assert world.remote.calls == 0
    world.worker.resume()
    world.run_until_quiet()
    assert world.landed("s") == ["a"]


def test_after_an_outage_the_destination_is_opened_slowly(world: World) -> None:
    world.remote.weather = Fate.UNREACHABLE
    for n in range(20):
        write(world, f"s{n}", "m")
    world.pass_time(30.0)
    world.remote.weather = Fate.GOOD
    world.run_until_quiet()
    at_once = [at_s for at_s, _, _ in world.remote.sends]
    first = at_once[0]
    assert sum(at_s < first + 0.01 for at_s in at_once) == 1
    assert world.worker.destinations[world.routes["h"].destination].circuit.width == 4

"""After a death, and when clocks jump."""

from __future__ import annotations

import pytest
from open_outbox import DAY_MS, SETTLE_DELAY_MS, START_MS, Box

from honchod.errors import LeaseLost
from honchod.outbox.circuits import CircuitRow
from honchod.outbox.recovery import USUAL_WAITS, Recovered
from honchod.outbox.values import Lease, LeaseTerms, NothingDue


def die_in_flight(box: Box, session: str) -> None:
    """Lease the lane, die, come back."""
    lease = box.try_lease()
    if not isinstance(lease, Lease):
        lease = box.lease(suspects=True)
    assert lease.lane.session == session
    box.crash()
    box.recover()
    box.clock.wall_ms = max(box.clock.wall_ms, box.lane(session).due_at)


def test_what_was_in_flight_at_a_death_is_in_doubt(box: Box) -> None:
    box.write("s", "a", "b", "c")
    box.write("t", "d")
    lease = box.lease(terms=LeaseTerms(batch_max=2))
    box.clock.pass_ms(4_000)
    box.crash()
    assert box.recover() == Recovered(lanes=1, suspects=0)
    row = box.lane("s")
    assert (row.lease_id, row.uncertain_first, row.uncertain_last, row.losses) == (None, 1, 2, 1)
    assert (row.look_at, row.due_at) == (START_MS + SETTLE_DELAY_MS,) * 2
    assert (row.last_error, row.charge) == ("daemon_died", 0)
    assert box.lane("t").uncertain == 0
    box.clock.wall_ms = row.due_at
    box.lease()
    taken = box.lease()
    assert (taken.uncertain, len(taken.events)) == (True, 2)
    with pytest.raises(LeaseLost):
        box.deliver(lease)


def test_a_death_while_looking_keeps_the_older_doubt(box: Box) -> None:
    box.write("s", *"abcd")
    box.doubt(box.lease(), charge=True, look_in_ms=90_000)
    box.clock.pass_ms(90_000)
    box.lease(terms=LeaseTerms(batch_max=2))
    box.crash()
    box.recover()
    row = box.lane("s")
    assert (row.uncertain_first, row.uncertain_last, row.charge) == (1, 4, 0)


def test_a_recovered_lane_is_never_due_before_it_may_be_looked_at(box: Box) -> None:
    """Else the worker would be woken for a lane that it cannot take, again and again."""
    box.write("s", "a")
    box.doubt(box.lease(), look_in_ms=50_000)
    box.run_in_writer(
        lambda tx: tx.connection.exec_driver_sql(
            "UPDATE lane SET lease_id = 'x', lease_first = 1, lease_last = 1, lease_until = 1, leased_at = 1"
        )
    )
    box.recover()
    row = box.lane("s")
    assert row.due_at == row.look_at == START_MS + 50_000


def test_a_clock_that_went_back_while_dead_makes_nobody_wait_longer(box: Box) -> None:
    box.write("s", "a")
    box.lease()
    box.crash()
    box.clock.pass_ms(-DAY_MS)
    box.recover()
    assert box.lane("s").due_at == START_MS - DAY_MS + SETTLE_DELAY_MS


def test_three_deaths_in_a_row_make_a_suspect(box: Box) -> None:
    box.write("s", "a", "b")
    for losses in (1, 2):
        die_in_flight(box, "s")
        assert box.lane("s").losses == losses
        assert not box.lease_and_return().suspect
    box.lease()
    box.crash()
    assert box.recover() == Recovered(lanes=1, suspects=1)
    assert box.lane("s").due_at == box.clock.wall_ms + 60_000
    assert box(box.outbox.overview()).lanes[0].suspect


def make_suspect(box: Box, session: str) -> None:
    box.write(session, "a", "b")
    for _ in range(3):
        die_in_flight(box, session)


def test_a_suspect_is_tried_one_event_at_a_time_and_only_when_asked_for(box: Box) -> None:
    make_suspect(box, "s")
    assert box.try_lease() == NothingDue(None)
    lease = box.lease(suspects=True)
    assert (lease.suspect, len(lease.events), lease.uncertain) == (True, 1, True)
    box.deliver(lease)
    assert box.lane("s").losses == 0
    assert not box.lease().suspect


def test_a_suspect_of_another_host_is_nobodys_next(box: Box) -> None:
    """A host that was removed leaves its lanes: they must not wake the worker of the others."""
    make_suspect(box, "s")
    due_at = box.lane("s").due_at
    box.clock.wall_ms = due_at - 1
    assert box.try_lease("h", suspects=True) == NothingDue(due_at)
    assert box.try_lease("other", suspects=True) == NothingDue(None)


def test_a_suspect_that_kills_again_waits_twice_as_long_up_to_an_hour(box: Box) -> None:
    make_suspect(box, "s")
    waits = []
    for _ in range(9):
        box.lease(suspects=True)
        box.crash()
        before = box.clock.wall_ms
        box.recover()
        waits.append((box.lane("s").due_at - before) // 60_000)
        box.clock.wall_ms = box.lane("s").due_at
    assert waits == [2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert USUAL_WAITS.after_ms(10_000) == USUAL_WAITS.cap_ms


def test_a_lease_that_was_handed_back_keeps_the_suspicion(box: Box) -> None:
    make_suspect(box, "s")
    box.settle(box.lease(suspects=True), outcome=False, resolved=False)
    assert box.lane("s").losses == 3


def test_a_lease_that_ran_out_is_taken_back_without_suspicion(box: Box) -> None:
    box.write("s", "a")
    box.lease()
    box.maintain()
    assert box.lane("s").lease_id is not None
    box.clock.pass_ms(30_001)
    box.maintain()
    row = box.lane("s")
    assert (row.lease_id, row.losses, row.last_error, row.uncertain) == (None, 0, "lease_lost", 1)


def test_a_clock_that_jumps_ahead_takes_no_lane_from_a_delivery_under_way(box: Box) -> None:
    box.write("s", "a")
    box.write("t", "b")
    alive, dead = box.lease(), box.lease()
    box.clock.pass_ms(2 * DAY_MS)
    box.maintain(alive=(alive.id,))
    assert box.lane(alive.lane.session).lease_id == alive.id
    assert box.lane(dead.lane.session).lease_id is None
    box.deliver(alive)


def test_a_clock_that_went_back_leaves_no_lease_without_a_holder(box: Box) -> None:
    box.write("s", "a")
    box.lease()
    box.clock.pass_ms(-DAY_MS)
    box.maintain()
    row = box.lane("s")
    assert row.lease_id is None
    assert row.due_at <= box.clock.wall_ms + SETTLE_DELAY_MS


def test_what_a_wrong_clock_put_off_is_due_again(box: Box) -> None:
    box.write("s", "a")
    box.write("t", "b")
    box.settle(box.lease(), due_in_ms=3_000_000, error="http_500", failures=9)
    box.doubt(box.lease(), look_in_ms=SETTLE_DELAY_MS, due_in_ms=3_000_000)
    box.maintain()
    assert (box.lane("s").due_at, box.lane("t").due_at) == (START_MS + 3_000_000,) * 2
    box.clock.pass_ms(-DAY_MS)
    box.maintain()
    now = box.clock.wall_ms
    assert box.lane("s").due_at == now
    assert (box.lane("t").due_at, box.lane("t").look_at) == (now + SETTLE_DELAY_MS,) * 2
    box.clock.pass_ms(SETTLE_DELAY_MS)
    assert {box.lease().lane.session, box.lease().lane.session} == {"s", "t"}


def test_circuits_outlive_the_process(box: Box) -> None:
    first = CircuitRow("d1", "open", "refused", 3, START_MS + 60_000, 1)
    box(box.outbox.save_circuit(first))
    box(box.outbox.save_circuit(CircuitRow("d2", "closed", "none", 0, 0, 4)))
    again = CircuitRow("d1", "open", "refused", 4, START_MS + 120_000, 1)
    box(box.outbox.save_circuit(again))
    box.crash()
    assert {row.destination: row for row in box(box.outbox.load_circuits())} == {
        "d1": again,
        "d2": CircuitRow("d2", "closed", "none", 0, 0, 4),
    }

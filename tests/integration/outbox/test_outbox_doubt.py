"""What an attempt of unknown outcome leaves behind, and what halving does with the next lease."""

from __future__ import annotations

from open_outbox import SETTLE_DELAY_MS, START_MS, Box

from honchod.outbox.held import HELD_MS
from honchod.outbox.letters import Choice
from honchod.outbox.recovery import doubt_everything
from honchod.outbox.values import Bisect, Delivered, Died, Lease, LeaseTerms, NothingDue


def contents(lease: Lease) -> list[str]:
    return [event.content for event in lease.events]


def test_an_uncertain_lane_waits_and_is_then_taken_with_what_is_in_doubt_alone(box: Box) -> None:
    box.write("s", "a", "b")
    box.doubt(box.lease(), charge=True)
    box.write("s", "c")
    assert box.try_lease() == NothingDue(START_MS + SETTLE_DELAY_MS)
    box.clock.pass_ms(SETTLE_DELAY_MS)
    lease = box.lease()
    assert (lease.uncertain, lease.charge, contents(lease)) == (True, True, ["a", "b"])
    assert lease.look_at_ms == START_MS + SETTLE_DELAY_MS
    box.deliver(lease)
    lease = box.lease()
    assert (lease.uncertain, lease.charge, lease.look_at_ms, contents(lease)) == (False, False, None, ["c"])


def test_waking_a_lane_makes_nobody_look_too_early(box: Box) -> None:
    box.write("s", "a")
    lease = box.lease()
    box.doubt(lease, due_in_ms=60_000)
    for wake in (box.outbox.wake(), box.outbox.wake(("h",)), box.outbox.wake_lane(lease.lane)):
        box(wake)
        assert box.try_lease() == NothingDue(START_MS + SETTLE_DELAY_MS)


def test_waking_makes_lanes_of_the_chosen_hosts_due(box: Box) -> None:
    for host in ("h", "other"):
        box.write(f"of {host}", "m", host=host, due_in_ms=60_000)
    assert box(box.outbox.wake(("other",))) == 1
    assert box.lease("h", "other").lane.session == "of other"
    assert box.try_lease("h", "other") == NothingDue(START_MS + 60_000)
    assert box(box.outbox.wake()) == 1
    assert box.lease().lane.session == "of h"


def test_a_look_that_failed_leaves_the_doubt(box: Box) -> None:
    box.write("s", "a")
    box.doubt(box.lease(), charge=True)
    box.clock.pass_ms(SETTLE_DELAY_MS)
    box.settle(box.lease(), resolved=False, error="timeout", failures=1)
    lease = box.lease()
    assert (lease.uncertain, lease.charge) == (True, True)


def test_a_part_of_a_doubt_that_was_looked_at_leaves_the_rest(box: Box) -> None:
    box.write("s", *"abcd")
    box.doubt(box.lease())
    box.clock.pass_ms(SETTLE_DELAY_MS)
    lease = box.lease(terms=LeaseTerms(batch_max=2))
    assert contents(lease) == ["a", "b"]
    box.deliver(lease)
    lease = box.lease()
    assert (lease.uncertain, contents(lease)) == (True, ["c", "d"])
    box.deliver(lease)
    box.write("s", "e")
    assert not box.lease().uncertain


def test_a_new_unknown_attempt_and_the_rest_of_the_old_one_are_one_doubt(box: Box) -> None:
    box.write("s", *"abcd")
    box.doubt(box.lease())
    box.clock.pass_ms(SETTLE_DELAY_MS)
    lease = box.lease(terms=LeaseTerms(batch_max=2))
    box.doubt(lease, charge=True)
    row = box.lane("s")
    assert (row.uncertain_first, row.uncertain_last, row.charge) == (1, 4, 1)
    assert row.look_at == box.clock.wall_ms + SETTLE_DELAY_MS


def test_a_doubt_about_nothing_that_waits_is_forgotten(box: Box) -> None:
    box.write("s", "a", "b")
    lease = box.lease(terms=LeaseTerms(batch_max=1))
    box.doubt(lease, died=(Died(1, "exhausted"),))
    box.clock.pass_ms(SETTLE_DELAY_MS)
    lease = box.lease()
    assert (lease.uncertain, contents(lease)) == (False, ["b"])
    assert box.lane("s").uncertain == 0


def test_a_message_for_a_lane_whose_doubt_is_left_over_does_not_keep_the_worker_spinning(box: Box) -> None:
    box.write("s", "a")
    box.doubt(box.lease(), died=(Died(1, "exhausted"),))
    box.write("s", "b")
    assert box.try_lease() == NothingDue(START_MS + SETTLE_DELAY_MS)


def test_a_letter_that_comes_back_while_its_lane_is_in_flight_is_still_looked_for(box: Box) -> None:
    """It may have landed: settling the others must not make it certain."""
    box.bury("s", "one", "two", "three")
    box.write("s", "four")
    box(box.outbox.retry_letters(Choice(ids=(2,)), limit=1))
    lease = box.lease()
    assert contents(lease) == ["two"]
    box(box.outbox.retry_letters(Choice(ids=(1,)), limit=1))
    box.deliver(lease)
    lease = box.lease()
    assert (lease.uncertain, contents(lease)) == (True, ["one"])
    box.deliver(lease)
    lease = box.lease()
    assert (lease.uncertain, contents(lease)) == (False, ["four"])
    # Back between two that are in flight.
    box.write("s", "five")
    box.settle(lease)
    box.bury_in_front(box.lease())
    lease = box.lease()
    assert contents(lease) == ["five"]
    box(box.outbox.retry_letters(Choice(ids=(4,)), limit=1))
    box.deliver(lease)
    lease = box.lease()
    assert (lease.uncertain, contents(lease)) == (True, ["four"])


def test_a_letter_that_comes_back_is_not_charged_for_an_attempt_it_had_no_part_in(box: Box) -> None:
    (dead,) = box.bury("s", "bad")
    box.write("s", "a", "b")
    box.doubt(box.lease(), charge=True)
    box(box.outbox.retry_letters(Choice(ids=(dead,)), limit=1))
    box.clock.pass_ms(SETTLE_DELAY_MS)
    lease = box.lease()
    assert (contents(lease), lease.uncertain, lease.charge) == (["bad", "a", "b"], True, False)


def test_an_order_that_was_lost_is_remembered(box: Box) -> None:
    box.write("s", "a", "b")
    box.settle(box.lease(), delivered=(Delivered(2, "r"),), order_gap=True)
    box.deliver(box.lease())
    assert box.lane("s").order_gap == 1
    assert box(box.outbox.overview()).lanes == ()
    box.write("s", "c")
    (lane,) = box(box.outbox.overview()).lanes
    assert lane.order_gap


def test_a_search_bounds_the_next_batch_and_ends_behind_its_range(box: Box) -> None:
    box.write("s", *"abcdef")
    lease = box.lease(terms=LeaseTerms(batch_max=4))
    box.settle(lease, bisect=Bisect(last=4, limit=2))
    lease = box.lease()
    assert (contents(lease), lease.bisect) == (["a", "b"], Bisect(4, 2))
    box.deliver(lease, bisect=Bisect(4, 1))
    lease = box.lease()
    assert contents(lease) == ["c"]
    box.settle(lease, died=(Died(3, "rejected_422"),), bisect=Bisect(4, 3))
    lease = box.lease()
    assert contents(lease) == ["d"]
    box.deliver(lease, bisect=Bisect(4, 3))
    lease = box.lease()
    assert (contents(lease), lease.bisect) == (["e", "f"], None)


def test_a_search_within_a_doubt_takes_no_more_than_both_allow(box: Box) -> None:
    box.write("s", *"abcdef")
    lease = box.lease(terms=LeaseTerms(batch_max=5))
    box.doubt(lease, bisect=Bisect(last=3, limit=4))
    box.clock.pass_ms(SETTLE_DELAY_MS)
    lease = box.lease()
    assert (contents(lease), lease.uncertain) == (["a", "b", "c"], True)


def test_a_restored_copy_doubts_everything_that_waits(box: Box) -> None:
    box.write("s", "a", "b")
    box.write("t", "c")
    box.deliver(box.lease())
    box.write("s", "d")
    box.write("u", "later", due_in_ms=None)
    assert box.run_in_writer(lambda tx: doubt_everything(tx, settle_delay_ms=SETTLE_DELAY_MS)) == 3
    assert box.try_lease() == NothingDue(START_MS + SETTLE_DELAY_MS)
    assert box.lane("u").due_at == START_MS + HELD_MS
    box.clock.pass_ms(SETTLE_DELAY_MS)
    leases = [box.lease() for _ in range(2)]
    assert {(lease.lane.session, *contents(lease)) for lease in leases} == {("s", "d"), ("t", "c")}
    assert all(lease.uncertain and not lease.charge for lease in leases)


def test_a_doubt_that_is_older_but_later_stays_later_in_a_restored_copy(box: Box) -> None:
    box.write("s", "a")
    box.doubt(box.lease(), look_in_ms=50_000)
    box.run_in_writer(lambda tx: doubt_everything(tx, settle_delay_ms=SETTLE_DELAY_MS))
    assert box.lane("s").look_at == START_MS + 50_000

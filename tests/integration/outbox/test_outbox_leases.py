"""Which lane is taken, with what, and what a lease protects."""

from __future__ import annotations

import uuid

import pytest
from open_outbox import DAY_MS, START_MS, Box, request, said

from honchod.errors import LeaseLost
from honchod.outbox.values import (
    AttemptMade,
    Delivered,
    Died,
    Kind,
    LaneKey,
    Lease,
    LeaseTerms,
    NothingDue,
    Prepared,
)


def contents(lease: Lease) -> list[str]:
    return [event.content for event in lease.events]


def test_a_lease_names_the_lane_and_its_oldest_events(box: Box) -> None:
    box.write("s", "a", "b", scope="sc")
    lease = box.lease()
    assert (lease.lane, lease.scope, contents(lease)) == (LaneKey("h", "w", "s"), "sc", ["a", "b"])
    assert (lease.leased_at_ms, lease.until_ms) == (START_MS, START_MS + 30_000)
    assert (lease.uncertain, lease.charge, lease.bisect, lease.suspect) == (False, False, None, False)
    assert uuid.UUID(lease.id).version == 7
    row = box.lane("s")
    assert (row.lease_id, row.lease_first, row.lease_last) == (
        lease.id,
        lease.events[0].id,
        lease.events[1].id,
    )


def test_a_leased_lane_is_not_leased_again(box: Box) -> None:
    box.write("s", "a")
    box.lease()
    assert box.try_lease() == NothingDue(None)


def test_the_lane_that_waited_longest_goes_first(box: Box) -> None:
    for session in ("late", "early"):
        box.write(session, "m", due_in_ms=20 if session == "late" else 10)
    box.clock.pass_ms(30)
    assert [box.lease().lane.session for _ in range(2)] == ["early", "late"]


def test_a_backlog_in_one_lane_never_starves_another(box: Box) -> None:
    box.write("backlog", *(f"m{n}" for n in range(30)))
    for n in range(3):
        box.clock.pass_ms(1)
        box.write(f"small{n}", "m")
    order = []
    for _ in range(6):
        box.clock.pass_ms(1)
        lease = box.lease(terms=LeaseTerms(batch_max=10))
        order.append(lease.lane.session)
        box.deliver(lease)
    assert order == ["backlog", "small0", "small1", "small2", "backlog", "backlog"]


def test_lanes_of_several_hosts_are_one_queue(box: Box) -> None:
    box.write("a", "m", host="one", due_in_ms=3)
    box.write("b", "m", host="two", due_in_ms=1)
    box.write("c", "m", host="three", due_in_ms=2)
    box.clock.pass_ms(5)
    assert [box.lease("one", "two").lane.session for _ in range(2)] == ["b", "a"]
    assert isinstance(box.try_lease("one", "two"), NothingDue)


def test_nothing_due_says_when_something_will_be(box: Box) -> None:
    assert box.try_lease() == NothingDue(None)
    box.write("s", "m", due_in_ms=700)
    box.write("t", "m", host="other", due_in_ms=300)
    assert box.try_lease("h", "other") == NothingDue(START_MS + 300)
    assert box.try_lease("h") == NothingDue(START_MS + 700)
    box.write("u", "m", due_in_ms=None)
    assert box.try_lease("h") == NothingDue(START_MS + 700)


def test_a_batch_is_bounded_by_events_and_bytes(box: Box) -> None:
    box.write("s", *("x" * 99 + str(n) for n in range(8)))
    assert len(box.lease(terms=LeaseTerms(batch_max=3)).events) == 3
    box.recover()
    box.clock.pass_ms(20_000)
    lease = box.lease(terms=LeaseTerms(batch_bytes=250))
    assert len(lease.events) == 2
    box.settle(lease)
    assert len(box.lease(terms=LeaseTerms(batch_bytes=1)).events) == 1


def test_a_batch_is_of_one_kind_and_only_messages_go_together(box: Box) -> None:
    events = (
        said("m1"),
        said("m2"),
        said("c1", kind=Kind.CONCLUSION),
        said("c2", kind=Kind.CONCLUSION),
        said("m3"),
    )
    box(box.outbox.append(request("s", *events)))
    batches = []
    for _ in range(4):
        lease = box.lease()
        batches.append(contents(lease))
        box.deliver(lease)
    assert batches == [["m1", "m2"], ["c1"], ["c2"], ["m3"]]


def test_an_event_that_waited_too_long_dies_when_its_lane_is_taken(box: Box) -> None:
    box.write("s", "old")
    box.clock.pass_ms(15 * DAY_MS)
    box.write("s", "new")
    assert contents(box.lease()) == ["new"]
    assert box.contents("s") == [("dead", "old"), ("queued", "new")]
    assert box.rows("SELECT last_error FROM event WHERE state = 'dead'") == [("expired",)]


def test_a_row_that_cannot_be_read_dies_and_its_neighbours_go_on(box: Box) -> None:
    box.write("s", "a", "b", "c")
    box.run_in_writer(
        lambda tx: tx.connection.exec_driver_sql("UPDATE event SET metadata = '{broken' WHERE content = 'b'")
    )
    box.run_in_writer(
        lambda tx: tx.connection.exec_driver_sql("UPDATE event SET content = NULL WHERE content = 'c'")
    )
    assert contents(box.lease()) == ["a"]
    assert box.rows("SELECT last_error FROM event WHERE state = 'dead'") == [("unreadable",)] * 2
    assert box.lane("s").pending == 1


def test_a_lane_of_which_nothing_can_be_sent_is_out_of_the_way(box: Box) -> None:
    box.write("s", "a")
    box.clock.pass_ms(15 * DAY_MS)
    box.write("t", "b")
    assert box.lease().lane.session == "t"
    assert (box.lane("s").pending, box.lane("s").due_at) == (0, None)


def test_a_lane_whose_counter_is_wrong_stalls_nobody(box: Box) -> None:
    box.write("s", "a")
    box.deliver(box.lease())
    box.run_in_writer(
        lambda tx: tx.connection.exec_driver_sql(
            "UPDATE lane SET pending = 3, due_at = 1 WHERE session = 's'"
        )
    )
    box.write("t", "b")
    assert box.lease().lane.session == "t"
    assert box.lane("s").pending == 0


def test_what_was_set_up_remotely_comes_back_with_the_next_lease(box: Box) -> None:
    box.write("s", "a", "b")
    prepared = Prepared("dest", ("al", "bot"), "sc")
    lease = box.lease(terms=LeaseTerms(batch_max=1))
    assert lease.prepared is None
    box.deliver(lease, prepared=prepared)
    lease = box.lease()
    assert lease.prepared == prepared
    box.settle(lease, prepared=None)
    assert box.lease().prepared is None


def test_a_setup_that_cannot_be_read_is_made_again(box: Box) -> None:
    box.write("s", "a")
    box.run_in_writer(lambda tx: tx.connection.exec_driver_sql("UPDATE lane SET prepared = 'nonsense'"))
    assert box.lease().prepared is None


def test_delivered_events_leave_the_lane_with_their_remote_ids(box: Box) -> None:
    box.write("s", "a", "b", "c")
    lease = box.lease()
    box.clock.pass_ms(40)
    left = box.settle(lease, delivered=[Delivered(event.id, f"r{event.id}") for event in lease.events[:2]])
    assert left == 1
    assert box.rows("SELECT state, remote_id, ended_at FROM event ORDER BY id") == [
        ("delivered", "r1", START_MS + 40),
        ("delivered", "r2", START_MS + 40),
        ("queued", None, None),
    ]
    row = box.lane("s")
    assert (row.pending, row.due_at, row.delivered_at) == (1, START_MS + 40, START_MS + 40)
    assert row.lease_id is row.lease_until is row.leased_at is row.lease_first is row.lease_last is None


def test_an_empty_lane_is_not_due(box: Box) -> None:
    box.write("s", "a")
    assert box.deliver(box.lease()) == 0
    assert (box.lane("s").pending, box.lane("s").due_at) == (0, None)


def test_a_failure_keeps_the_events_and_names_the_code(box: Box) -> None:
    box.write("s", "a")
    lease = box.lease()
    attempt = AttemptMade((lease.events[0].id,), "unknown", 500, 12)
    box.settle(lease, due_in_ms=900, failures=3, error="http_500", attempts=(attempt,), charged=(1,))
    row = box.lane("s")
    assert (row.due_at, row.failures, row.last_error, row.last_error_at) == (
        START_MS + 900,
        3,
        "http_500",
        START_MS,
    )
    assert box.rows("SELECT outcome, status, ms, at FROM attempt") == [("unknown", 500, 12, START_MS)]
    assert box.value("SELECT attempts FROM event") == 1
    box.clock.pass_ms(900)
    lease = box.lease()
    assert (lease.failures, lease.events[0].attempts) == (3, 1)
    box.deliver(lease)
    assert (box.lane("s").failures, box.lane("s").last_error) == (0, None)


def test_only_the_last_ten_attempts_are_remembered(box: Box) -> None:
    box.write("s", "a")
    for n in range(14):
        lease = box.lease()
        box.settle(lease, attempts=(AttemptMade((lease.events[0].id,), "unknown", 500, n),))
    assert [row[0] for row in box.rows("SELECT ms FROM attempt ORDER BY id")] == list(range(4, 14))


def test_dead_letters_keep_their_content_and_code(box: Box) -> None:
    box.write("s", "a", "b")
    lease = box.lease()
    box.settle(lease, died=(Died(lease.events[0].id, "rejected_422"),))
    assert box.rows("SELECT state, content, last_error FROM event ORDER BY id") == [
        ("dead", "a", "rejected_422"),
        ("queued", "b", None),
    ]


def test_a_lease_that_was_taken_away_writes_nothing(box: Box) -> None:
    box.write("s", "a")
    lost = box.lease()
    box.recover()
    box.clock.pass_ms(15_000)
    held = box.lease()
    before = box.rows("SELECT * FROM lane"), box.rows("SELECT * FROM event")
    attempt = AttemptMade((1,), "unknown", 500, 1)
    for what in ({"delivered": (Delivered(1, "r"),)}, {"died": (Died(1, "x"),)}, {"attempts": (attempt,)}):
        with pytest.raises(LeaseLost):
            box.settle(lost, **what, charged=(1,))
    with pytest.raises(LeaseLost):
        box(box.outbox.renew(lost, 30_000))
    assert (box.rows("SELECT * FROM lane"), box.rows("SELECT * FROM event")) == before
    assert box.value("SELECT count(*) FROM attempt") == 0
    box.deliver(held)


def test_a_lease_can_be_settled_once(box: Box) -> None:
    box.write("s", "a")
    lease = box.lease()
    box.deliver(lease)
    with pytest.raises(LeaseLost):
        box.deliver(lease)
    assert box(box.outbox.overview()).counts.delivered_ever == 1


def test_renewing_moves_the_end_of_a_lease(box: Box) -> None:
    box.write("s", "a")
    lease = box.lease()
    box.clock.pass_ms(9_000)
    assert box(box.outbox.renew(lease, 30_000)) == START_MS + 39_000
    assert (box.lane("s").lease_until, box.lane("s").leased_at) == (START_MS + 39_000, START_MS + 9_000)


def test_a_settlement_leaves_alone_what_is_no_longer_queued(box: Box) -> None:
    box.write("s", "a", "b")
    lease = box.lease()
    box.run_in_writer(
        lambda tx: tx.connection.exec_driver_sql("UPDATE event SET state = 'discarded' WHERE content = 'a'")
    )
    box.deliver(lease)
    assert box.contents("s") == [("discarded", "a"), ("delivered", "b")]


def test_handing_a_lease_back_without_an_outcome_clears_nothing(box: Box) -> None:
    box.write("s", "a")
    box.settle(box.lease(), due_in_ms=0, failures=4, error="http_500")
    box.settle(box.lease(), outcome=False)
    assert (box.lane("s").failures, box.lane("s").last_error) == (4, "http_500")

"""Messages in: deduped, bounded, all or nothing."""

from __future__ import annotations

import uuid

import pytest
from open_outbox import START_MS, Box, request, said

from honchod.errors import IdConflict, OutboxFull, QuotaUsedUp
from honchod.outbox.held import HELD_MS
from honchod.outbox.values import Appended, Bounds


def test_what_was_acked_is_on_disk_in_the_order_written(box: Box) -> None:
    assert box.write("s", "a", "b") == (
        Appended("id of a", 1, duplicate=False),
        Appended("id of b", 1, duplicate=False),
    )
    box.write("s", "c")
    box.crash()
    assert box.contents("s") == [("queued", "a"), ("queued", "b"), ("queued", "c")]
    assert (box.lane("s").pending, box.lane("s").due_at) == (3, START_MS)


def test_the_parts_of_a_message_are_events_of_their_own(box: Box) -> None:
    whole = said("one two", "m", pieces=("one ", "two"), metadata='{"k":1}')
    assert box(box.outbox.append(request("s", whole)))[0].parts == 2
    rows = box.rows("SELECT part, parts, content, metadata, size, digest, honchod_id FROM event ORDER BY id")
    assert [(row[0], row[1], row[2], row[3], row[4]) for row in rows] == [
        (0, 2, "one ", '{"k":1}', 11),
        (1, 2, "two", '{"k":1}', 10),
    ]
    assert rows[0][5] == rows[1][5] == whole.digest
    ids = [row[6] for row in rows]
    assert ids == sorted(set(ids))
    assert {uuid.UUID(one).version for one in ids} == {7}


def test_the_same_message_again_is_a_duplicate_and_stored_once(box: Box) -> None:
    box.write("s", "a")
    assert box.write("s", "a", "b") == (
        Appended("id of a", 1, duplicate=True),
        Appended("id of b", 1, duplicate=False),
    )
    assert len(box.contents("s")) == 2
    assert box.lane("s").pending == 2


def test_a_duplicate_within_one_request_is_stored_once(box: Box) -> None:
    answers = box(box.outbox.append(request("s", said("a"), said("a"))))
    assert [answer.duplicate for answer in answers] == [False, True]
    assert box.contents("s") == [("queued", "a")]


def test_a_duplicate_answers_with_the_parts_that_were_stored(box: Box) -> None:
    box(box.outbox.append(request("s", said("ab", "m", pieces=("a", "b")))))
    (again,) = box(box.outbox.append(request("s", said("ab", "m", pieces=("ab",)))))
    assert again == Appended("m", 2, duplicate=True)


def test_a_delivered_message_is_still_known(box: Box) -> None:
    box.write("s", "a")
    box.deliver(box.lease())
    assert box.write("s", "a")[0].duplicate


def test_an_id_with_other_content_is_a_conflict_and_nothing_of_the_request_is_stored(box: Box) -> None:
    box.write("s", "a")
    with pytest.raises(IdConflict, match="'m'"):
        box(box.outbox.append(request("s", said("new"), said("x", "m"), said("y", "m"))))
    assert box.contents("s") == [("queued", "a")]
    assert box.lane("s").pending == 1


def test_the_same_id_in_another_session_is_another_message(box: Box) -> None:
    box.write("s", "a")
    assert not box.write("t", "a")[0].duplicate


def test_an_id_that_was_made_just_now_is_not_looked_up(box: Box) -> None:
    (answer,) = box(box.outbox.append(request("s", said("a", "made", fresh=True))))
    assert answer == Appended("made", 1, duplicate=False)


def test_a_lane_is_made_with_its_scope_and_a_new_scope_replaces_it(box: Box) -> None:
    box.write("s", "a")
    assert box.lane("s").scope is None
    box.write("s", "b", scope="one")
    box.write("s", "c")
    assert box.lane("s").scope == "one"
    box.write("s", "d", scope="two")
    assert box.lane("s").scope == "two"


def test_hosts_and_workspaces_have_lanes_of_their_own(box: Box) -> None:
    box.write("s", "a")
    box.write("s", "a", host="other")
    assert box.value("SELECT count(*) FROM lane") == 2


@pytest.mark.parametrize(
    ("due_in_ms", "due_at"), [(0, START_MS), (500, START_MS + 500), (None, START_MS + HELD_MS)]
)
def test_the_writer_says_when_its_lane_is_due(box: Box, due_in_ms: int | None, due_at: int) -> None:
    box.write("s", "a", due_in_ms=due_in_ms)
    assert box.lane("s").due_at == due_at


def test_a_lane_in_backoff_is_not_made_due_earlier_by_a_new_message(box: Box) -> None:
    box.write("s", "a")
    box.settle(box.lease(), due_in_ms=60_000, error="http_500", failures=1)
    box.write("s", "b")
    assert box.lane("s").due_at == START_MS + 60_000


def test_a_lane_that_was_held_back_becomes_due_with_a_message_that_says_so(box: Box) -> None:
    box.write("s", "a", due_in_ms=None)
    box.write("s", "b", due_in_ms=0)
    assert box.lane("s").due_at == START_MS


def fill(box: Box, rows: int, **more: object) -> None:
    for start in range(0, rows, 50):
        box.write("bulk", *(f"m{n}" for n in range(start, min(rows, start + 50))), **more)


def test_at_the_bound_of_rows_a_write_is_refused_and_delivery_goes_on(box: Box) -> None:
    box.reopen(Bounds(max_rows=100))
    fill(box, 100, limited=False)
    with pytest.raises(OutboxFull) as refused:
        box.write("s", "one more", limited=False)
    assert refused.value.retry_after_s
    assert box.value("SELECT count(*) FROM event") == 100
    assert box.value("SELECT count(*) FROM lane WHERE session = 's'") == 0
    box.deliver(box.lease())
    assert not box.write("s", "one more", limited=False)[0].duplicate


def test_at_the_bound_terminal_rows_go_first_oldest_first_and_nothing_else(box: Box) -> None:
    box.reopen(Bounds(max_rows=700))
    dead = box.bury("dead", "d1", "d2")
    fill(box, 600, limited=False)
    for _ in range(5):
        box.clock.pass_ms(10)
        box.deliver(box.lease())
    before = box.value("SELECT count(*) FROM event WHERE state = 'delivered'")
    assert before == 500
    box.write("late", *(f"n{n}" for n in range(99)), limited=False)
    states = dict(box.rows("SELECT state, count(*) FROM event GROUP BY state"))
    assert states == {"queued": 199, "delivered": 300, "dead": 2}
    assert [row[0] for row in box.rows("SELECT id FROM event WHERE state = 'dead'")] == dead
    oldest_left = box.value("SELECT min(ended_at) FROM event WHERE state = 'delivered'")
    pruned_until = box.value("SELECT min(id) FROM event WHERE state = 'delivered'")
    assert pruned_until == 203
    assert oldest_left >= box.clock.wall_ms - 30


def test_a_refused_write_prunes_nothing(box: Box) -> None:
    box.reopen(Bounds(max_rows=100))
    fill(box, 60, limited=False)
    box.deliver(box.lease())
    with pytest.raises(OutboxFull):
        box.write("s", *(f"n{n}" for n in range(120)), limited=False)
    assert box.value("SELECT count(*) FROM event WHERE state = 'delivered'") == 60


def test_at_the_bound_of_bytes_a_write_is_refused(box: Box) -> None:
    box.reopen(Bounds(max_bytes=400_000))
    big = [request("s", said("x " * 5_000, f"m{n}"), limited=False) for n in range(100)]
    refused = [answer for answer in box.at_once(big) if isinstance(answer, OutboxFull)]
    assert 70 <= len(refused) <= 80
    kept = box.value("SELECT count(*) FROM event")
    assert 20 <= kept <= 30
    while box.lane("s").pending:
        box.deliver(box.lease())
    box(box.outbox.append(request("t", said("x" * 20_000, "one more"), limited=False)))
    assert box.value("SELECT count(*) FROM event") < kept


def test_the_databases_own_bound_refuses_too_and_settling_still_has_room(box: Box) -> None:
    """The reserve above ``max_bytes`` is SQLite's: a write past it is a full disk."""
    box.write("s", "kept", limited=False)

    def shrink(tx: object) -> None:
        pages = tx.connection.exec_driver_sql("PRAGMA page_count").scalar()  # type: ignore[attr-defined]
        tx.connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")  # type: ignore[attr-defined]

    box.run_in_writer(shrink)
    with pytest.raises(OutboxFull):
        box.write("s", "y" * 200_000, limited=False)
    assert box.contents("s") == [("queued", "kept")]
    box.deliver(box.lease())
    assert box.contents("s") == [("delivered", "kept")]


def test_one_uid_can_fill_only_its_share(box: Box) -> None:
    box.reopen(Bounds(max_rows=100, quota_share=0.5))
    fill(box, 50, uid=1000)
    with pytest.raises(QuotaUsedUp, match="1000 has 50"):
        box.write("s", "too many", uid=1000)
    assert not box.write("s", "another's", uid=1001)[0].duplicate
    box.deliver(box.lease())
    assert not box.write("s", "room again", uid=1000)[0].duplicate


def test_a_share_is_of_bytes_too(box: Box) -> None:
    box.reopen(Bounds(max_bytes=100_000_000, quota_share=0.001))
    box.write("s", "x" * 99_990)
    with pytest.raises(QuotaUsedUp):
        box.write("s", "y" * 20)


def test_operators_have_no_share(box: Box) -> None:
    box.reopen(Bounds(max_rows=100, quota_share=0.1))
    fill(box, 90, limited=False)
    assert box.lane("bulk").pending == 90


def test_a_share_counts_what_waits_in_the_same_commit(box: Box) -> None:
    box.reopen(Bounds(max_rows=100, quota_share=0.1))
    results = box.at_once([request(f"s{n}", said(f"m{n}")) for n in range(30)])
    assert sum(isinstance(result, QuotaUsedUp) for result in results) == 20
    assert box.value("SELECT count(*) FROM event") == 10


def test_rows_of_the_same_commit_count_towards_the_bound(box: Box) -> None:
    box.reopen(Bounds(max_rows=10))
    results = box.at_once([request(f"s{n}", said(f"m{n}"), limited=False) for n in range(30)])
    assert sum(isinstance(result, OutboxFull) for result in results) == 20
    assert box.value("SELECT count(*) FROM event") == 10

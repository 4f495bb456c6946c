"""What is kept, and for how long."""

from __future__ import annotations

import pytest
from open_outbox import DAY_MS, START_MS, Box, request, said

from honchod.outbox import retention
from honchod.outbox.letters import Choice
from honchod.outbox.retention import STEP_ROWS
from honchod.outbox.values import AttemptMade, Bounds, LeaseTerms


def test_content_goes_after_its_time_and_id_and_digest_stay(box: Box) -> None:
    box(box.outbox.append(request("s", said("a", metadata='{"k":1}'))))
    box.deliver(box.lease())
    box.clock.pass_ms(DAY_MS)
    box.maintain()
    assert box.contents("s") == [("delivered", "a")]
    box.clock.pass_ms(1)
    box.maintain()
    assert box.contents("s") == [("delivered", None)]
    assert box.value("SELECT metadata FROM event") is None
    assert box.write("s", "a")[0].duplicate
    assert box(box.outbox.overview()).counts.bytes == 0


def test_content_can_go_with_the_delivery_itself(box: Box) -> None:
    box.reopen(Bounds(content_after_delivery_ms=0))
    box.write("s", "a", "b")
    lease = box.lease(terms=LeaseTerms(batch_max=1))
    box.deliver(lease)
    assert box.contents("s") == [("delivered", None), ("queued", "b")]
    assert box(box.outbox.overview()).counts.bytes == 1


def test_content_that_is_gone_is_not_in_the_file(box: Box) -> None:
    secret = "a phrase that nobody should find again"
    box.write("s", secret, *(f"other {n}" for n in range(40)))
    box.deliver(box.lease())
    box.clock.pass_ms(2 * DAY_MS)
    box.maintain()
    box(box.outbox.close())
    assert secret.encode() not in box.path.read_bytes().replace(f"id of {secret}".encode(), b"")
    assert not box.path.with_name(box.path.name + "-wal").exists()
    box.outbox = type(box.outbox).open(box.directory, bounds=box.bounds, clock=box.clock)


def test_ids_are_forgotten_after_the_window_and_can_be_used_again(box: Box) -> None:
    box.write("s", "a")
    box.deliver(box.lease())
    box.clock.pass_ms(7 * DAY_MS + 1)
    box.maintain()
    assert box.value("SELECT count(*) FROM event") == 0
    assert not box.write("s", "a")[0].duplicate
    counts = box(box.outbox.overview()).counts
    assert (counts.delivered, counts.delivered_ever) == (0, 1)


def test_attempts_go_with_their_event(box: Box) -> None:
    box.write("s", "a")
    lease = box.lease()
    box.settle(lease, attempts=(AttemptMade((1,), "unknown", 500, 1),))
    box.deliver(box.lease())
    box.clock.pass_ms(7 * DAY_MS + 1)
    box.maintain()
    assert box.value("SELECT count(*) FROM attempt") == 0


def test_neither_waiting_nor_dead_events_are_ever_pruned_or_forgotten(box: Box) -> None:
    box.bury("s", "dead")
    box.write("s", "waiting")
    box.clock.pass_ms(13 * DAY_MS)
    box.maintain()
    assert box.contents("s") == [("dead", "dead"), ("queued", "waiting")]
    assert not box.run_in_writer(lambda tx: retention.prune(tx, rows=1, size=0))
    assert box.contents("s") == [("dead", "dead"), ("queued", "waiting")]


def test_what_waited_too_long_is_a_dead_letter_and_never_in_flight(box: Box) -> None:
    box.write("s", "a")
    box.write("t", "b")
    box.write("u", "c", due_in_ms=None)
    lease = box.lease()
    box.clock.pass_ms(14 * DAY_MS + 1)
    box.write("u", "young")
    box.maintain(alive=(lease.id,))
    assert box.contents("s") == [("queued", "a")]
    assert box.contents("t") == [("dead", "b")]
    assert box.contents("u") == [("dead", "c"), ("queued", "young")]
    assert (box.lane("t").pending, box.lane("t").due_at, box.lane("u").pending) == (0, None, 1)
    (letters, total) = box(box.outbox.letters(Choice(), after=0, limit=10))
    assert ([letter.code for letter in letters], total) == (["expired", "expired"], 2)


def test_long_work_is_done_in_steps(box: Box) -> None:
    for start in range(0, STEP_ROWS + 300, 100):
        box.write("s", *(f"m{n}" for n in range(start, start + 100)))
    for _ in range(13):
        box.deliver(box.lease())
    assert box.lane("s").pending == 0
    box.clock.pass_ms(DAY_MS + 1)
    steps = [box.run_in_writer(lambda tx: retention.drop_content(tx, Bounds())) for _ in range(3)]
    assert steps == [STEP_ROWS, 300, 0]
    box.clock.pass_ms(7 * DAY_MS)
    before = box.outbox.writer_stats().commits
    box.maintain()
    assert box.value("SELECT count(*) FROM event") == 0
    assert box.outbox.writer_stats().commits - before >= 5


@pytest.mark.parametrize("jump_ms", [-DAY_MS, 0])
def test_a_clock_that_stands_still_or_goes_back_deletes_nothing(box: Box, jump_ms: int) -> None:
    box.write("s", "a", "b")
    box.deliver(box.lease(terms=LeaseTerms(batch_max=1)))
    box.clock.pass_ms(jump_ms)
    box.maintain()
    assert box.contents("s") == [("delivered", "a"), ("queued", "b")]
    assert box.clock.wall_ms == START_MS + jump_ms

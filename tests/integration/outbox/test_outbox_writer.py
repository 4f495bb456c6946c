"""Group commit, savepoints and the WAL."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from open_outbox import SMALL, Box, HandClock, request, said

from honchod.errors import IdConflict
from honchod.outbox import database, tally
from honchod.outbox.letters import Choice
from honchod.outbox.states import State
from honchod.outbox.store import Outbox
from honchod.outbox.transaction import Tx
from honchod.outbox.values import Counts
from honchod.outbox.wal import WAL_LIMIT_BYTES

BOUND_S = 10.0


def test_many_writes_share_few_commits(box: Box) -> None:
    before = box.outbox.writer_stats().commits
    box.at_once([request(f"s{n % 7}", said(f"m{n}")) for n in range(300)])
    stats = box.outbox.writer_stats()
    assert stats.commits - before <= 30
    assert box.value("SELECT count(*) FROM event") == 300
    assert stats.mean_group > 5
    assert (stats.queued, stats.busy_s) == (0, 0.0)
    assert 0 < stats.p50_ms <= stats.p99_ms


def test_each_commit_tells_its_time_and_size(box: Box) -> None:
    told: list[tuple[float, int, Mapping[State, int]]] = []
    box.outbox.on_commit(lambda *commit: told.append(commit))
    box.at_once([request("s", said(f"m{n}")) for n in range(40)])
    assert sum(operations for _, operations, _ in told) == 40
    assert all(seconds > 0 for seconds, _, _ in told)
    assert sum(entered[State.QUEUED] for _, _, entered in told) == 40


def test_a_commit_counts_what_came_into_each_state_whatever_left_it(box: Box) -> None:
    told: list[Mapping[State, int]] = []
    box.outbox.on_commit(lambda _seconds, _operations, entered: told.append(entered))
    (letter, *_) = box.bury("s", "a", "b")
    box(box.outbox.retry_letters(Choice(ids=(letter,)), limit=1))
    box.deliver(box.lease())
    counted = sum((Counter(entered) for entered in told), Counter())
    assert counted == {State.QUEUED: 3, State.DEAD: 2, State.DELIVERED: 1}


def test_an_operation_that_fails_counts_nothing(box: Box) -> None:
    told: list[Mapping[State, int]] = []
    box.write("s", "a")
    box.outbox.on_commit(lambda _seconds, _operations, entered: told.append(entered))
    box.at_once([request("s", said("new"), said("other", "id of a"))])
    assert not sum((Counter(entered) for entered in told), Counter())


def test_an_operation_that_fails_leaves_its_neighbours_and_no_trace(box: Box) -> None:
    box.write("s", "a")
    conflicting = request("s", said("new one"), said("other", "id of a"))
    results = box.at_once(
        [request("s", said("before")), conflicting, request("s", said("after")), conflicting]
    )
    assert [isinstance(result, IdConflict) for result in results] == [False, True, False, True]
    assert [content for _, content in box.contents("s")] == ["a", "before", "after"]
    assert counted(box) == recounted(box)


def test_requests_of_one_group_share_their_statements(box: Box) -> None:
    ran: list[str] = []
    box.run_in_writer(lambda tx: tx.driver.set_trace_callback(ran.append))
    box.at_once([request(f"s{n % 7}", said(f"m{n}")) for n in range(300)])
    box.run_in_writer(lambda tx: tx.driver.set_trace_callback(None))
    assert sum(statement.startswith("INSERT INTO event") for statement in ran) < 60
    assert not any("SAVEPOINT" in statement for statement in ran)
    stored = [content for _, content in box.contents("s3")]
    assert stored == [f"m{n}" for n in range(300) if n % 7 == 3]
    assert counted(box) == recounted(box)


def test_what_is_known_already_is_found_among_what_is_new(box: Box) -> None:
    box.write("s", "a", "b")
    results = box.at_once([request("s", said(one)) for one in ("new", "a", "newer", "b", "new")])
    assert [result[0].duplicate for result in results] == [False, True, False, True, True]
    assert [content for _, content in box.contents("s")] == ["a", "b", "new", "newer"]
    assert box.lane("s").pending == 4
    assert counted(box) == recounted(box)


def test_a_request_of_very_many_messages_is_stored_whole_and_in_order(box: Box) -> None:
    box.at_once([request("s", *(said(f"{one}{n}") for n in range(97))) for one in "abc"])
    assert [content for _, content in box.contents("s")] == [f"{one}{n}" for one in "abc" for n in range(97)]


def test_a_lane_that_was_undone_is_not_remembered(box: Box) -> None:
    """Its id goes to the next lane that is made."""
    refused = request("undone", said("x", "m"), said("y", "m"))
    results = box.at_once([refused, request("made", said("a"))])
    assert isinstance(results[0], IdConflict)
    box.write("undone", "b")
    box.write("made", "c")
    assert [content for _, content in box.contents("undone")] == ["b"]
    assert [content for _, content in box.contents("made")] == ["a", "c"]


def test_a_scope_is_taken_over_by_a_lane_that_is_remembered(box: Box) -> None:
    for content, scope in (("a", None), ("b", None), ("c", "one"), ("d", None), ("e", "two")):
        box.write("s", content, scope=scope)
    assert box.lane("s").scope == "two"
    assert box.lane("s").pending == 5


def test_an_error_of_an_operation_reaches_its_caller_alone(box: Box) -> None:
    def broken(tx: Tx) -> None:
        tx.connection.exec_driver_sql("INSERT INTO kept VALUES ('half', 'done')")
        raise ZeroDivisionError

    async def both() -> list[Any]:
        return await asyncio.gather(
            box.outbox._write(broken), box.outbox.append(request("s", said("a"))), return_exceptions=True
        )

    failed, stored = box(both())
    assert isinstance(failed, ZeroDivisionError)
    assert not stored[0].duplicate
    assert box.value("SELECT count(*) FROM kept WHERE key = 'half'") == 0


def test_a_transaction_that_is_lost_is_repeated_one_by_one(box: Box) -> None:
    """A full disk can end the whole transaction: each operation gets its own answer all the same."""

    def loses_the_transaction(tx: Tx) -> None:
        tx.connection.exec_driver_sql("ROLLBACK")
        raise OSError("gone")

    async def three() -> list[Any]:
        return await asyncio.gather(
            box.outbox.append(request("s", said("a"))),
            box.outbox._write(loses_the_transaction),
            box.outbox.append(request("s", said("b"))),
            return_exceptions=True,
        )

    first, lost, last = box(three())
    assert isinstance(lost, OSError)
    assert not first[0].duplicate
    assert not last[0].duplicate
    assert box.contents("s") == [("queued", "a"), ("queued", "b")]
    assert counted(box) == recounted(box)


def test_a_cancelled_caller_harms_nobody(box: Box) -> None:
    async def cancelled() -> Any:
        gone = asyncio.ensure_future(box.outbox.append(request("s", said("a"))))
        await asyncio.sleep(0)
        gone.cancel()
        return await box.outbox.append(request("s", said("b")))

    assert not box(cancelled())[0].duplicate
    assert ("queued", "b") in box.contents("s")


def counted(box: Box) -> dict[tuple[str, str], Counts]:
    return {place: without_history(counts) for place, counts in box(box.outbox.overview()).by_place.items()}


def recounted(box: Box) -> dict[tuple[str, str], Counts]:
    reader = database.open_reader(box.path)
    try:
        return tally.recount(reader)
    finally:
        reader.close()


def without_history(counts: Counts) -> Counts:
    return Counts(counts.queued, counts.delivered, counts.dead, counts.discarded, counts.bytes)


def wait_for_empty_wal(box: Box) -> None:
    """An idle writer empties it a second after its last commit."""
    deadline = time.monotonic() + BOUND_S
    while box.outbox.wal_bytes():
        assert time.monotonic() < deadline, box.outbox.wal_bytes()
        time.sleep(0.02)


def test_an_idle_writer_empties_the_wal(box: Box) -> None:
    box.write("s", "a" * 50_000)
    assert box.outbox.wal_bytes() > 50_000
    wait_for_empty_wal(box)
    assert box.contents("s")[0][0] == "queued"


def test_a_busy_writer_keeps_the_wal_within_its_bound(box: Box) -> None:
    largest = 0
    for n in range(30):
        box(box.outbox.append(request("s", said(chr(65 + n % 26) * 1_000_000, f"m{n}"))))
        largest = max(largest, box.outbox.wal_bytes())
    assert largest <= WAL_LIMIT_BYTES + 3_000_000


def test_a_reader_with_an_old_snapshot_holds_no_write_up_and_the_wal_shrinks_after_it(box: Box) -> None:
    box.write("s", "a")
    reader = database.open_reader(box.path)
    reader.exec_driver_sql("BEGIN")
    assert reader.exec_driver_sql("SELECT count(*) FROM event").scalar() == 1
    for n in range(25):
        box(box.outbox.append(request("s", said("x" * 1_000_000, f"m{n}"))))
    assert reader.exec_driver_sql("SELECT count(*) FROM event").scalar() == 1
    grown = box.outbox.wal_bytes()
    assert grown > WAL_LIMIT_BYTES
    reader.exec_driver_sql("COMMIT")
    reader.close()
    wait_for_empty_wal(box)
    assert box.value("SELECT count(*) FROM event") == 26


def test_closing_folds_the_wal_into_the_database(tmp_path: Path) -> None:
    box = Box(tmp_path / "state")
    box.write("s", "a")
    box.close()
    assert sorted(path.name for path in box.directory.iterdir()) == [
        *(database.LOCK_NAME, database.FILE_NAME, f"{database.FILE_NAME}-ballast")
    ]


def test_what_is_queued_at_the_close_is_written(tmp_path: Path) -> None:
    opened = Outbox.open(tmp_path, bounds=SMALL, clock=HandClock())

    async def write_and_close() -> list[Any]:
        writes = [asyncio.ensure_future(opened.append(request("s", said(f"m{n}")))) for n in range(20)]
        await asyncio.sleep(0)
        await opened.close()
        return await asyncio.gather(*writes)

    assert len(asyncio.run(write_and_close())) == 20


def test_readers_see_one_instant(box: Box) -> None:
    box.write("s", "a")
    box.deliver(box.lease())
    box.write("t", "b", "c")
    overview = box(box.outbox.overview())
    assert (overview.counts.queued, overview.counts.delivered) == (2, 1)
    assert [(lane.session, lane.pending) for lane in overview.lanes] == [("t", 2)]
    assert overview.oldest_queued_at_ms == box.clock.wall_ms
    assert overview.database_bytes > 0


@pytest.mark.parametrize("readers", [8])
def test_readers_and_writers_work_at_once(box: Box, readers: int) -> None:
    async def both() -> None:
        looks = [box.outbox.overview() for _ in range(readers)]
        writes = [box.outbox.append(request("s", said(f"m{n}"))) for n in range(50)]
        await asyncio.gather(*looks, *writes)

    box(both())
    assert box.value("SELECT count(*) FROM event") == 50

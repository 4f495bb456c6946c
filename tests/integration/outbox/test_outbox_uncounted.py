"""What was taken in is counted later, and nobody can tell."""

from __future__ import annotations

import contextlib
import sqlite3
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from open_outbox import START_MS, Box, request, said
from test_outbox_damage import drain, notice_of, opened, overwrite, root_page, unreadable
from test_outbox_upgrades import write_as

from honchod.errors import Draining, IdConflict, QuotaUsedUp
from honchod.outbox import damage, database, tally, writer
from honchod.outbox.compiled import EXACT_ROWS
from honchod.outbox.tally import Ledger
from honchod.outbox.transaction import Tx
from honchod.outbox.values import Bounds, Kind
from support import disk
from support.counting import LANES_THAT_COUNT_WRONG

BOUND_S = 10.0
PAGE = database.PAGE_BYTES
INTERIOR = 5
"""What a page of a table begins with that leads to others."""
COUNTED = "SELECT max(counted_upto) = (SELECT max(id) FROM event) FROM tally"


def is_counted(box: Box) -> bool:
    return bool(box.value(COUNTED))


def check_as_recounted(box: Box) -> None:
    with contextlib.closing(database.open_reader(box.path)) as reader:
        held = {place: counts.queued for place, counts in tally.by_place(reader).items() if counts.rows}
        assert held == {place: counts.queued for place, counts in tally.recount(reader).items()}
        assert list(reader.exec_driver_sql(LANES_THAT_COUNT_WRONG)) == []


def meet(box: Box, *sessions: str) -> None:
    """Have the writer know the lanes of these sessions, in which then two messages wait."""
    for session in sessions:
        box.write(session, f"{session} 1")
        box.write(session, f"{session} 2")
    box.count()


@pytest.fixture
def uncounted(box: Box) -> Box:
    """Three messages wait in a session, and one of them is not counted."""
    meet(box, "s")
    box.write("s", "s 3")
    assert box.lane("s").pending == 2
    assert not is_counted(box)
    return box


def test_taking_in_is_one_statement(box: Box) -> None:
    meet(box, "s")
    ran: list[str] = []
    box.run_in_writer(lambda tx: tx.driver.set_trace_callback(ran.append))
    ran.clear()
    box.write("s", "a", "b")
    assert [statement.split()[:3] for statement in ran] == [["INSERT", "INTO", "event"]]


def test_a_status_shows_it(uncounted: Box) -> None:
    meet(uncounted, "t")
    uncounted.write("t", "t 3")
    uncounted.write("s", "s 4")
    seen = uncounted(uncounted.outbox.overview())
    assert (seen.counts.queued, seen.counts.bytes) == (7, 7 * 3)
    assert [(place, counts.queued) for place, counts in seen.by_place.items()] == [(("h", "w"), 7)]
    assert [(lane.session, lane.pending) for lane in seen.lanes] == [("s", 4), ("t", 3)]
    assert not is_counted(uncounted)


def test_the_longest_lanes_are_those_with_what_is_not_counted(box: Box) -> None:
    meet(box, "short", "long")
    box.write("long", "a")
    box.count()
    box.write("short", "b", "c")
    seen = box(box.outbox.overview())
    assert [(lane.session, lane.pending) for lane in seen.lanes] == [("short", 4), ("long", 3)]


def test_a_lane_that_was_empty_is_shown_with_it_as_due(box: Box) -> None:
    meet(box, "s")
    box.deliver(box.lease())
    box.clock.pass_ms(5)
    box.write("s", "a")
    for oldest in (False, True):
        (lane,) = box(box.outbox.overview(oldest=oldest)).lanes
        assert (lane.pending, lane.due_at_ms) == (1, box.clock.now_ms())
    assert box.lane("s").due_at is None


def test_the_wait_of_a_lane_that_failed_is_shown_as_it_is(box: Box) -> None:
    meet(box, "s")
    box.settle(box.lease(), due_in_ms=60_000, failures=1)
    box.write("s", "a")
    (lane,) = box(box.outbox.overview()).lanes
    assert (lane.pending, lane.due_at_ms) == (3, START_MS + 60_000)


def test_how_much_of_a_session_waits_has_it(uncounted: Box) -> None:
    key = request("s").lane
    assert uncounted(uncounted.outbox.pending(key)) == 3
    assert not is_counted(uncounted)
    assert uncounted(uncounted.outbox.end_session(key)) == 3


def test_whoever_acts_on_it_finds_it_counted(uncounted: Box) -> None:
    lease = uncounted.lease()
    assert [one.content for one in lease.events] == ["s 1", "s 2", "s 3"]
    assert is_counted(uncounted)
    assert uncounted.deliver(lease) == 0


def test_it_is_counted_when_the_writer_rests(uncounted: Box) -> None:
    deadline = time.monotonic() + BOUND_S
    while not is_counted(uncounted):
        assert time.monotonic() < deadline
    assert uncounted.lane("s").pending == 3


def test_it_is_counted_when_it_is_much(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "UNCOUNTED_MAX", 3)
    meet(box, "s")
    for content in "abc":
        box.write("s", content)
        assert box.lane("s").pending == 2
    box.write("s", "d")
    assert box.lane("s").pending == 6


def test_it_is_counted_when_the_outbox_is_closed(uncounted: Box) -> None:
    uncounted.reopen()
    assert is_counted(uncounted)


def test_it_is_known_after_a_crash(uncounted: Box) -> None:
    uncounted.crash()
    assert not is_counted(uncounted)
    check_as_recounted(uncounted)
    uncounted.recover()
    assert is_counted(uncounted)
    assert [one.content for one in uncounted.lease().events] == ["s 1", "s 2", "s 3"]


def test_a_share_is_used_up_by_it_after_a_crash_too(tmp_path: Path) -> None:
    box = Box(tmp_path / "state", bounds=Bounds(max_rows=8, max_bytes=64 << 20, quota_share=0.5))
    try:
        meet(box, "s")
        box.write("s", "c", "d")
        assert not is_counted(box)
        for _ in range(2):
            with pytest.raises(QuotaUsedUp):
                box.write("s", "e")
            box.crash()
        assert [content for _, content in box.contents("s")] == ["s 1", "s 2", "c", "d"]
    finally:
        box.close()


def test_what_is_known_already_is_found_among_it(uncounted: Box) -> None:
    assert uncounted.write("s", "s 3")[0].duplicate
    with pytest.raises(IdConflict):
        uncounted(uncounted.outbox.append(request("s", said("c"), said("other", "id of s 3"))))
    check_as_recounted(uncounted)
    assert [content for _, content in uncounted.contents("s")] == ["s 1", "s 2", "s 3"]


def test_of_many_messages_with_one_that_cannot_be_none_is_stored(uncounted: Box) -> None:
    """However many statements they take."""
    many = [said(f"m{n}") for n in range(3 * EXACT_ROWS)]
    with pytest.raises(IdConflict):
        uncounted(uncounted.outbox.append(request("s", *many, said("other", "id of s 3"))))
    assert [content for _, content in uncounted.contents("s")] == ["s 1", "s 2", "s 3"]
    check_as_recounted(uncounted)


def test_the_room_that_it_may_take_is_taken(uncounted: Box) -> None:
    known = uncounted.outbox._writer._standing
    before = known.bytes(Ledger())
    uncounted.write("s", "x" * 10_000)
    assert known.bytes(Ledger()) >= before + 10_000


def test_what_a_lost_transaction_counted_is_counted_again(uncounted: Box) -> None:
    def loses_the_transaction(tx: Tx) -> None:
        tx.connection.exec_driver_sql("ROLLBACK")
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        uncounted.run_in_writer(loses_the_transaction)
    assert not is_counted(uncounted)
    uncounted.write("s", "s 4")
    uncounted.count()
    assert uncounted.lane("s").pending == 4
    check_as_recounted(uncounted)


def test_it_is_not_counted_twice_where_as_much_goes_as_came(box: Box) -> None:
    concluded = box(box.outbox.conclude(request("s", said("x", kind=Kind.CONCLUSION))))
    meet(box, "s")
    before = box.rows("SELECT queued, bytes FROM tally")
    box.write("s", "y")
    assert not is_counted(box)
    (row,) = box.rows("SELECT id FROM event WHERE message_id = ?", concluded.message_id)
    box(box.outbox.erase_conclusions([row.id]))
    assert box.rows("SELECT queued, bytes FROM tally") == before
    box.crash()
    box.count()
    check_as_recounted(box)


def test_a_backup_has_it(uncounted: Box, tmp_path: Path) -> None:
    copied = uncounted(uncounted.outbox.backup(tmp_path / "copy", lambda _done, _of: None))
    assert copied.counts.queued == 3
    assert not is_counted(uncounted)


@pytest.fixture
def left(uncounted: Box, tmp_path: Path) -> Path:
    """What a crash leaves, with the log in the file, where damage can be done to it: the state directory."""
    uncounted.deliver(uncounted.lease())
    uncounted.write("s", "s 4")
    uncounted.count()
    uncounted.write("s", "s 5", "s 6")
    return folded(uncounted, tmp_path / "left")


def folded(box: Box, directory: Path) -> Path:
    left = disk.copy_of(box.path, directory)
    with contextlib.closing(sqlite3.connect(left / database.FILE_NAME)) as alone:
        alone.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return left


def test_a_damaged_database_gives_it_back(left: Path) -> None:
    file = left / database.FILE_NAME
    overwrite(file, root_page(file, "circuit"))
    with opened(left) as box:
        notice = notice_of(box)
        assert notice is not None
        assert (notice.events, notice.unreadable, notice.missing) == (6, 0, 0)
        check_as_recounted(box)
        assert drain(box) == {"s": ["id of s 4", "id of s 5", "id of s 6"]}


@pytest.mark.parametrize("broken", [("event",), ("event", "tally")])
def test_where_only_an_index_has_it_it_becomes_a_dead_letter(left: Path, broken: tuple[str, ...]) -> None:
    """Where the counters are broken too, nothing tells what is not counted: then all that could be is."""
    file = left / database.FILE_NAME
    for table in broken:
        overwrite(file, root_page(file, table))
    with opened(left) as box:
        notice = notice_of(box)
        assert notice is not None
        counted = "tally" not in broken
        assert notice.missing == (3 if counted else None)
        assert unreadable(box) == {"s": {f"id of s {n}" for n in range(4 if counted else 1, 7)}}
        check_as_recounted(box)


def test_damage_that_is_met_when_it_is_looked_for_is_mended_when_opened_anew(
    left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = left / database.FILE_NAME
    overwrite(file, root_page(file, "tally"))
    with monkeypatch.context() as patched:
        patched.setattr(damage, "CHECK_AT_START_BYTES", 1)
        with opened(left) as box:
            told: list[str] = []
            box.outbox.watch.on_damage = lambda: told.append("damaged")
            with pytest.raises(Draining):
                box.write("s", "refused")
            assert told
    with opened(left) as box:
        assert notice_of(box) is not None
        assert drain(box) == {"s": ["id of s 4", "id of s 5", "id of s 6"]}


def first_leaf(path: Path, table: str) -> int:
    """The page that holds the first rows of a table of several pages."""
    page = path.read_bytes()[(root_page(path, table) - 1) * PAGE :][:PAGE]
    assert page[0] == INTERIOR
    (cell,) = struct.unpack(">H", page[12:14])
    (leaf,) = struct.unpack(">I", page[cell : cell + 4])
    return int(leaf)


def test_what_is_counted_and_lost_is_named_beside_what_is_not_counted(box: Box, tmp_path: Path) -> None:
    contents = [f"{n} {'x' * 1500}" for n in range(6)]
    meet(box, "s")
    box.write("s", *contents)
    box.count()
    box.write("s", "not counted")
    file = folded(box, tmp_path / "left") / database.FILE_NAME
    overwrite(file, first_leaf(file, "event"))
    with opened(file.parent) as mended:
        lost = unreadable(mended)["s"]
        assert lost
        assert len(lost) + len(drain(mended)["s"]) == 2 + len(contents) + 1


def test_what_an_older_version_delivered_is_not_named_as_lost(tmp_path: Path) -> None:
    """It had counted everything."""
    file = tmp_path / database.FILE_NAME
    write_as("0005", file)
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as old:
        old.execute("UPDATE event SET state = 'delivered', ended_at = 1 WHERE message_id = 'a'")
        old.execute("UPDATE lane SET pending = 1 WHERE session = 'due'")
        old.execute("UPDATE tally SET queued = 2, delivered = 1")
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    overwrite(file, root_page(file, "event"))
    with opened(tmp_path) as box:
        assert unreadable(box) == {"due": {"b"}, "odd": {"c"}}


def empty(box: Box) -> None:
    box.deliver(box.lease())


def failed(box: Box) -> None:
    box.settle(box.lease(), due_in_ms=60_000, failures=1)


def held(box: Box) -> None:
    box.deliver(box.lease())
    box.write("s", "held", due_in_ms=None)


def held_and_failed(box: Box) -> None:
    lease = box.lease()
    box.write("s", "held", due_in_ms=None)
    box.settle(lease, due_in_ms=60_000, failures=1)


def in_doubt(box: Box) -> None:
    box.doubt(box.lease())


@pytest.mark.parametrize("state", [empty, failed, held, held_and_failed, in_doubt])
def test_a_lane_is_shown_as_it_is_once_it_is_counted(box: Box, state: Callable[[Box], object]) -> None:
    meet(box, "s")
    state(box)
    box.write("s", "a")
    assert not is_counted(box)
    shown = box(box.outbox.overview()).lanes
    box.count()
    assert box(box.outbox.overview()).lanes == shown

"""Damaged files: whatever page is broken, the outbox opens, and what waited is there or is named."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from open_outbox import SMALL, Box, HandClock

from honchod.errors import DatabaseTooNew, Draining
from honchod.outbox import damage, database, salvage, tally
from honchod.outbox.notices import Salvaged
from honchod.outbox.store import Outbox
from honchod.outbox.values import Died, Lease, LeaseTerms

PAGE = database.PAGE_BYTES
SESSIONS = 9
EACH = 8
LONG = "a long text of several pages " * 400


@dataclass(frozen=True)
class Sample:
    """A queue at rest in a file: what waits in each session, in order."""

    directory: Path
    waiting: dict[str, list[str]]

    @property
    def file(self) -> Path:
        return self.directory / database.FILE_NAME


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    directory = tmp_path_factory.mktemp("sample") / "state"
    box = Box(directory)
    waiting = {}
    for session in range(SESSIONS):
        ids = [f"m{session}-{number}" for number in range(EACH)]
        box.write(f"s{session}", *(f"{one} {LONG if one.endswith('3') else ''}" for one in ids))
        waiting[f"s{session}"] = [f"id of {one} {LONG if one.endswith('3') else ''}" for one in ids]
    for session in ("s0", "s1"):
        lease = box.lease(terms=LeaseTerms(batch_max=3))
        assert lease.lane.session == session
        box.deliver(lease, died=(Died(lease.events[2].id, "rejected_422"),), due_in_ms=60_000)
        waiting[session] = waiting[session][3:]
    box.close()
    return Sample(directory, waiting)


@pytest.fixture
def copy(sample: Sample, tmp_path: Path) -> Sample:
    directory = tmp_path / "state"
    shutil.copytree(sample.directory, directory)
    return Sample(directory, sample.waiting)


def open_and_close(directory: Path, clock: HandClock | None = None) -> None:
    outbox = Outbox.open(directory, bounds=SMALL, clock=clock or HandClock())
    asyncio.run(outbox.close())


@contextlib.contextmanager
def opened(directory: Path) -> Iterator[Box]:
    box = Box(directory)
    try:
        yield box
    finally:
        box.close()


def overwrite(path: Path, page: int, with_: bytes = b"\xa5" * PAGE) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(with_)


def root_page(path: Path, name: str) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        return int(connection.execute(query, (name,)).fetchone()[0])


def notice_of(box: Box) -> Salvaged | None:
    found = box(box.outbox.notices())
    assert len(found) <= 1
    return found[0] if found else None


def check_counters(box: Box) -> None:
    """The counters, and what each lane says that waits in it, equal a recount."""
    counted = box(box.outbox._read(tally.recount))
    kept = box(box.outbox.overview()).by_place
    for place, counts in counted.items():
        assert (kept[place].queued, kept[place].delivered, kept[place].dead) == (
            *(counts.queued, counts.delivered, counts.dead),
        )
    for session, pending in box.rows("SELECT session, pending FROM lane"):
        waiting = "SELECT count(*) FROM event JOIN lane ON lane.id = lane_id WHERE state = 'queued'"
        assert pending == box.value(f"{waiting} AND session = ?", session)


def drain(box: Box) -> dict[str, list[str]]:
    """Deliver all that waits; the message ids by session, in order."""
    box.recover()
    box.clock.pass_ms(3_600_000)
    there: dict[str, list[str]] = {}
    while isinstance(lease := box.try_lease("h", salvage.UNKNOWN), Lease):
        there.setdefault(lease.lane.session, []).extend(event.message_id for event in lease.events)
        box.deliver(lease)
    return there


def unreadable(box: Box) -> dict[str, set[str]]:
    rows = box.rows(
        "SELECT session, message_id FROM event JOIN lane ON lane.id = lane_id "
        "WHERE state = 'dead' AND event.last_error = 'unreadable'"
    )
    return {session: {message_id for of, message_id in rows if of == session} for session, _ in rows}


def check_accounted_for(box: Box, sample: Sample) -> int:
    """Each event that waited is delivered in order, or is named as unreadable. Returns how many are named."""
    check_counters(box)
    there = drain(box)
    named = unreadable(box)
    for session, ids in sample.waiting.items():
        dead = named.get(session, set())
        assert there.get(session, []) == [one for one in ids if one not in dead]
    return sum(map(len, named.values()))


def test_a_sound_file_is_opened_as_it_is(copy: Sample) -> None:
    with opened(copy.directory) as box:
        assert notice_of(box) is None
        assert check_accounted_for(box, copy) == 0
        assert box.outbox.watch.checked
    assert not list(copy.directory.glob("*damaged*"))


FILLINGS: dict[str, Callable[[], bytes]] = {
    "zeros": lambda: bytes(PAGE),
    "noise": lambda: random.Random(1).randbytes(PAGE),
}


@pytest.mark.parametrize("filling", FILLINGS)
def test_whatever_page_is_overwritten_nothing_that_waited_goes_unnoticed(
    sample: Sample, tmp_path: Path, filling: str
) -> None:
    """A part of the pages of the file, one after the other; with `HONCHOD_EVERY_PAGE` all of them."""
    pages = range(1, sample.file.stat().st_size // PAGE + 1)
    if not os.environ.get("HONCHOD_EVERY_PAGE"):
        pages = pages[list(FILLINGS).index(filling) :: 8]
    for page in pages:
        directory = tmp_path / str(page)
        shutil.copytree(sample.directory, directory)
        overwrite(directory / database.FILE_NAME, page, FILLINGS[filling]())
        with opened(directory) as box:
            named = check_accounted_for(box, sample)
            notice = notice_of(box)
        assert named == (notice.unreadable if notice else 0), page
        shutil.rmtree(directory)


@pytest.mark.parametrize(
    "part", ["lane", "tally", "share", "kept", "event_queued", "sqlite_autoindex_event_1", "sqlite_sequence"]
)
def test_a_broken_root_of_anything_but_the_events_costs_no_event(copy: Sample, part: str) -> None:
    overwrite(copy.file, root_page(copy.file, part))
    with opened(copy.directory) as box:
        assert check_accounted_for(box, copy) == 0


def test_events_that_cannot_be_reached_at_all_are_named_one_by_one(copy: Sample) -> None:
    overwrite(copy.file, root_page(copy.file, "event"))
    with opened(copy.directory) as box:
        total = sum(map(len, copy.waiting.values()))
        assert check_accounted_for(box, copy) == total
        notice = notice_of(box)
        assert notice is not None
        assert (notice.events, notice.unreadable) == (0, total)
        assert notice.missing == SESSIONS * EACH - total


def test_a_broken_first_page_costs_nothing(copy: Sample) -> None:
    overwrite(copy.file, 1)
    with opened(copy.directory) as box:
        assert check_accounted_for(box, copy) == 0
        notice = notice_of(box)
        assert notice is not None
        assert (notice.events, notice.missing) == (SESSIONS * EACH, 0)


def test_the_damaged_file_is_kept_to_the_last_byte_with_its_log(copy: Sample) -> None:
    with opened(copy.directory) as box:
        box.write("s0", "in the log")
        log = box.path.with_name(f"{box.path.name}-wal")
        before = copy.file.read_bytes(), log.read_bytes()
    copy.file.write_bytes(before[0])
    log.write_bytes(before[1])
    overwrite(copy.file, root_page(copy.file, "circuit"))
    damaged = copy.file.read_bytes()
    with opened(copy.directory) as box:
        notice = notice_of(box)
        assert notice is not None
        kept = copy.directory / notice.kept_as
        assert kept.read_bytes() == damaged
        assert kept.with_name(f"{kept.name}-wal").read_bytes() == before[1]
        assert ("queued", "in the log") in box.contents("s0")


@pytest.mark.parametrize("left", [0, 100, PAGE + 1, 5 * PAGE, "half", "all but a page"])
def test_a_truncated_file_is_opened_with_what_is_left_and_kept(copy: Sample, left: int | str) -> None:
    size = copy.file.stat().st_size
    length = {"half": size // 2, "all but a page": size - PAGE}.get(str(left), left)
    os.truncate(copy.file, length)
    with opened(copy.directory) as box:
        check_counters(box)
        box.write("s0", "taken as before")
        assert drain(box)["s0"][-1] == "id of taken as before"
        notice = notice_of(box)
        assert notice is not None
        assert (copy.directory / notice.kept_as).stat().st_size == length


def test_everything_is_looked_up_before_it_is_sent_after_a_salvage(copy: Sample) -> None:
    """The file may be older than the queue was: what it thinks waits may have been delivered."""
    overwrite(copy.file, root_page(copy.file, "tally"))
    with opened(copy.directory) as box:
        box.crash()
        box.recover()
        box.clock.pass_ms(3_600_000)
        while isinstance(lease := box.try_lease(), Lease):
            assert lease.uncertain
            box.deliver(lease)
        box.write("s0", "new")
        assert not box.lease().uncertain


def test_a_death_in_the_middle_of_a_salvage_loses_nothing(
    copy: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    overwrite(copy.file, root_page(copy.file, "tally"))
    renames: list[str] = []
    allowed = 0

    def rename(path: Path, target: Path) -> Path:
        if len(renames) == allowed:
            raise KeyboardInterrupt
        renames.append(path.name)
        return really_rename(path, target)

    really_rename = Path.rename
    deaths = 0
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", rename)
        while deaths == allowed:
            renames.clear()
            try:
                open_and_close(copy.directory)
            except KeyboardInterrupt:
                deaths += 1
                allowed += 1
            else:
                allowed += 1
    assert deaths > 1
    with opened(copy.directory) as box:
        assert check_accounted_for(box, copy) == 0
        assert notice_of(box) is not None
    assert len(list(copy.directory.glob("*damaged-*Z"))) == 1


def test_a_newer_version_is_refused_untouched_even_when_damaged(copy: Sample) -> None:
    with contextlib.closing(sqlite3.connect(copy.file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    overwrite(copy.file, root_page(copy.file, "tally"))
    before = copy.file.read_bytes()
    with pytest.raises(DatabaseTooNew):
        open_and_close(copy.directory)
    assert copy.file.read_bytes() == before
    assert not list(copy.directory.glob("*damaged*"))


def test_damage_met_while_it_runs_is_told_and_mended_when_opened_anew(copy: Sample) -> None:
    box = Box(copy.directory)
    told: list[str] = []
    box.outbox.watch.on_damage = lambda: told.append("damaged")
    overwrite(copy.file, root_page(copy.file, "event"))
    with pytest.raises(Draining, match="damaged"):
        drain(box)
    assert told == ["damaged"]
    box.close()
    with opened(copy.directory) as box:
        check_counters(box)
        assert notice_of(box) is not None


def test_a_large_file_is_opened_first_and_checked_then(copy: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    overwrite(copy.file, root_page(copy.file, "event_queued"))
    monkeypatch.setattr(damage, "CHECK_AT_START_BYTES", 1)
    with opened(copy.directory) as box:
        assert not box.outbox.watch.checked
        assert notice_of(box) is None
        told: list[str] = []
        box.outbox.watch.on_damage = lambda: told.append("damaged")
        box.outbox.watch.look()
        assert told == ["damaged"]


def test_ids_are_not_given_out_twice_after_a_salvage(copy: Sample) -> None:
    with contextlib.closing(sqlite3.connect(copy.file)) as connection, connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 5000 WHERE name = 'event'")
    overwrite(copy.file, root_page(copy.file, "tally"))
    with opened(copy.directory) as box:
        box.write("s0", "new")
        assert box.value("SELECT max(id) FROM event") == 5001


def test_shares_are_counted_anew(copy: Sample) -> None:
    with contextlib.closing(sqlite3.connect(copy.file)) as connection:
        before = connection.execute("SELECT uid, rows, bytes FROM share ORDER BY uid").fetchall()
    overwrite(copy.file, root_page(copy.file, "share"))
    with opened(copy.directory) as box:
        assert box.rows("SELECT uid, rows, bytes FROM share ORDER BY uid") == before
        assert SMALL.max_rows > SESSIONS * EACH


def test_a_clock_that_stands_still_keeps_every_damaged_file(copy: Sample) -> None:
    """Two salvages in the same second: neither replaces what the other kept."""
    clock = HandClock()
    for number in (1, 2):
        overwrite(copy.file, root_page(copy.file, "tally"))
        open_and_close(copy.directory, clock)
        kept = [one for one in copy.directory.glob("*.damaged-*") if not one.name.endswith(("-wal", "-shm"))]
        assert len(kept) == number

"""The counters equal a recount, whatever was done."""

from __future__ import annotations

import contextlib
from pathlib import Path
from random import Random

import pytest
from open_outbox import DAY_MS, SETTLE_DELAY_MS, Box, request, said
from sqlalchemy.engine import Connection

from honchod.errors import HonchodError
from honchod.outbox import database, tally, uncounted
from honchod.outbox.letters import Choice
from honchod.outbox.standing import Standing
from honchod.outbox.tally import Ledger
from honchod.outbox.values import Bounds, Counts, Delivered, Died, Lease, LeaseTerms
from support.counting import LANES_THAT_COUNT_WRONG

HOSTS = ("h", "other")
UIDS = (1, 2)


class Operator:
    """Does one random thing after another."""

    def __init__(self, box: Box, seed: int) -> None:
        self.box = box
        self.random = Random(seed)
        self.serial = 0
        self.leases: list[Lease] = []

    def write(self) -> None:
        events = []
        for _ in range(self.random.randint(1, 4)):
            self.serial += 1
            text = f"message {self.serial}" if self.random.random() < 0.8 else "the same again"
            pieces = (text[:4], text[4:]) if self.random.random() < 0.3 else ()
            events.append(said(text, pieces=pieces))
        if self.random.random() < 0.2:
            events.append(said("conflict", "id of the same again"))
        session, host = self.random.choice("abc"), self.random.choice(HOSTS)
        uid = self.random.choice(UIDS)
        self.box.at_once([request(session, *events, host=host, uid=uid, limited=False)])

    def take(self) -> None:
        leased = self.box.try_lease(*HOSTS, terms=LeaseTerms(batch_max=self.random.randint(1, 5)))
        if isinstance(leased, Lease):
            self.leases.append(leased)

    def settle(self) -> None:
        if not self.leases:
            return
        lease = self.leases.pop(self.random.randrange(len(self.leases)))
        delivered, died = [], []
        for event in lease.events:
            chance = self.random.random()
            if chance < 0.5:
                delivered.append(Delivered(event.id, None))
            elif chance < 0.75:
                died.append(Died(event.id, "rejected_422"))
        try:
            self.box.settle(lease, delivered=tuple(delivered), died=tuple(died))
        except HonchodError:
            return

    def retry(self) -> None:
        self.box(self.box.outbox.retry_letters(Choice(), limit=self.random.randint(1, 3)))

    def discard(self) -> None:
        letters, _ = self.box(self.box.outbox.letters(Choice(), after=0, limit=2))
        self.box(self.box.outbox.discard_letters([letter.id for letter in letters]))

    def grow_older(self) -> None:
        self.box.clock.pass_ms(self.random.choice((1_000, DAY_MS, 8 * DAY_MS)))
        self.box.maintain()

    def crash(self) -> None:
        self.box.crash()
        self.box.recover()
        self.box.clock.pass_ms(SETTLE_DELAY_MS)
        self.leases.clear()

    def act(self) -> None:
        acts = (self.write, self.take, self.settle, self.retry, self.discard, self.grow_older, self.crash)
        self.random.choices(acts, weights=(10, 8, 8, 2, 1, 1, 1))[0]()
        self.box.clock.pass_ms(1)


def check(reader: Connection, known: Standing) -> None:
    counted = {
        place: Counts(counts.queued, counts.delivered, counts.dead, counts.discarded, counts.bytes)
        for place, counts in tally.by_place(reader).items()
    }
    recounted = tally.recount(reader)
    assert {place: counts for place, counts in counted.items() if counts.rows} == recounted
    assert all(counts == Counts() for place, counts in counted.items() if place not in recounted)
    waiting = reader.exec_driver_sql(
        "SELECT uid, count(*), sum(size) FROM event WHERE state = 'queued' GROUP BY uid"
    )
    held = set(map(tuple, waiting))
    assert shares_of(reader) == held
    # What the writer knows by heart is what it would read.
    nothing = Ledger()
    assert known.rows(nothing) == sum(counts.rows for counts in counted.values())
    by_heart = {(uid, *known.share_of(uid, nothing)) for uid in {*UIDS, *(uid for uid, *_ in held)}}
    assert {share for share in by_heart if share[1:] != (0, 0)} == held
    assert list(reader.exec_driver_sql(LANES_THAT_COUNT_WRONG)) == []
    undue = reader.exec_driver_sql("SELECT id FROM lane WHERE (pending > 0) <> (due_at IS NOT NULL)")
    assert list(undue) == []
    happened_to = reader.exec_driver_sql(
        "SELECT id FROM event WHERE state <> 'queued' AND id > (SELECT max(counted_upto) FROM tally)"
    )
    assert list(happened_to) == []


def shares_of(reader: Connection) -> set[tuple[int, int, int]]:
    """Rows and bytes of each uid that wait: those that are counted, and those that are not."""
    found: dict[int, tuple[int, int]] = {
        uid: (rows, size) for uid, rows, size in reader.exec_driver_sql("SELECT uid, rows, bytes FROM share")
    }
    for more in uncounted.read(database.driver_of(reader)):
        rows, size = found.get(more.uid, (0, 0))
        found[more.uid] = rows + more.rows, size + more.bytes
    return {(uid, *held) for uid, held in found.items() if held != (0, 0)}


@pytest.mark.parametrize("seed", range(4))
def test_counters_equal_a_recount_after_random_operations(tmp_path: Path, seed: int) -> None:
    box = Box(tmp_path / "state", bounds=Bounds(max_rows=120, max_bytes=64 << 20))
    try:
        operator = Operator(box, seed)
        for _ in range(150):
            operator.act()
            # A crash leaves the database elsewhere.
            with contextlib.closing(database.open_reader(box.path)) as reader:
                check(reader, box.outbox._writer._standing)
        assert box(box.outbox.overview()).counts.delivered_ever > 20
    finally:
        box.close()


def test_totals_are_the_sum_over_hosts(box: Box) -> None:
    box.write("s", "a")
    box.write("s", "b", host="other")
    overview = box(box.outbox.overview())
    assert overview.counts.queued == 2
    assert {place[0]: counts.queued for place, counts in overview.by_place.items()} == {"h": 1, "other": 1}

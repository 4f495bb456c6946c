"""What is done together is done as if it were done one by one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from open_outbox import Box, request, said

from honchod.errors import HonchodError
from honchod.outbox import standing
from honchod.outbox.tally import Ledger
from honchod.outbox.values import Append, Bounds

BOUND_S = 10.0
TIGHT = Bounds(max_rows=60, max_bytes=64 << 20, quota_share=0.5)
ROWS = (
    "SELECT host, session, message_id, part, parts, kind, peer, role, author, content, metadata, created_at,"
    " queued_at, size, digest, state, event.uid FROM event JOIN lane ON lane.id = lane_id ORDER BY event.id"
)
LANES = "SELECT * FROM lane ORDER BY id"
COUNTERS = "SELECT host, workspace, queued, bytes FROM tally WHERE queued <> 0 ORDER BY host"
COUNTED_UPTO = "SELECT max(counted_upto) FROM tally"
SHARES = "SELECT * FROM share WHERE rows <> 0 ORDER BY uid"


def in_one_group(box: Box, requests: Sequence[Append]) -> list[Any]:
    """Have them all wait for the writer before it takes any. Returns answers and exceptions."""
    queued = threading.Event()

    async def gather() -> list[Any]:
        held_up = asyncio.ensure_future(box.outbox._write(lambda _: queued.wait(BOUND_S)))
        writes = [asyncio.ensure_future(box.outbox.append(one)) for one in requests]
        await asyncio.sleep(0)
        queued.set()
        assert await held_up
        return await asyncio.gather(*writes, return_exceptions=True)

    return box(gather())


def one_by_one(box: Box, requests: Sequence[Append]) -> list[Any]:
    def answer(one: Append) -> Any:
        try:
            return box(box.outbox.append(one))
        except HonchodError as error:
            return error

    return [answer(one) for one in requests]


def any_requests(random: Random, serials: Iterator[int], *, clashes: bool) -> list[Append]:
    """Of several sessions, hosts and uids, in every shape. With clashes, the same and the contrary too."""
    requests = []
    for _ in range(random.randint(1, 40)):
        events = []
        for _ in range(random.choice((1, 1, 1, 2, 5))):
            serial = next(serials)
            text = random.choice((f"message {serial}", f"Grüße, 雪 {serial}", f"{serial} " + "x" * 3000))
            pieces = (text[:3], text[3:]) if random.random() < 0.2 else ()
            metadata = '{"where":"Zürich"}' if random.random() < 0.3 else None
            events.append(said(text, pieces=pieces, metadata=metadata, fresh=random.random() < 0.3))
        if clashes and random.random() < 0.15:
            events.append(said("the same again"))
        if clashes and random.random() < 0.1:
            events.append(said(f"other {next(serials)}", "id of the same again"))
        requests.append(
            request(
                random.choice("abcdefgh"),
                *events,
                host=random.choice(("h", "other")),
                uid=random.choice((1, 2)),
                limited=random.random() < 0.7,
                scope=random.choice((None, None, None, "one", "two")),
            )
        )
    return requests


def kinds(answers: Sequence[Any]) -> list[Any]:
    return [(type(one), str(one)) if isinstance(one, BaseException) else one for one in answers]


@pytest.mark.parametrize("clashes", [False, True])
@pytest.mark.parametrize("bounds", [Bounds(), TIGHT])
@pytest.mark.parametrize("seed", range(6))
def test_a_group_is_stored_as_its_requests_one_by_one(
    tmp_path: Path, seed: int, bounds: Bounds, clashes: bool
) -> None:
    together, alone = Box(tmp_path / "together", bounds=bounds), Box(tmp_path / "alone", bounds=bounds)
    try:
        random, serials = Random(seed), count()
        for _ in range(3):
            requests = any_requests(random, serials, clashes=clashes)
            assert kinds(in_one_group(together, requests)) == kinds(one_by_one(alone, requests))
            together.count()
            alone.count()
            for sql in (ROWS, LANES, COUNTERS, COUNTED_UPTO, SHARES):
                assert together.rows(sql) == alone.rows(sql)
    finally:
        together.close()
        alone.close()


def test_a_group_of_very_many_lanes_makes_each_due_with_what_it_got(box: Box) -> None:
    requests = [
        request(f"s{lane}", *(said(f"{lane}-{n}") for n in range(1 + lane % 3))) for lane in range(150)
    ]
    in_one_group(box, requests)
    assert [tuple(row) for row in box.rows("SELECT pending, due_at FROM lane ORDER BY id")] == [
        (1 + lane % 3, box.clock.wall_ms) for lane in range(150)
    ]


@pytest.mark.parametrize("size", [*range(1, 35), 63, 64, 65, 100, 130])
def test_a_request_of_any_number_of_messages_is_stored_whole_and_in_order(box: Box, size: int) -> None:
    contents = [f"m{n}" for n in range(size)]
    box.write("s", *contents)
    assert [content for _, content in box.contents("s")] == contents


def test_more_in_a_lane_that_waits_leaves_what_it_is_found_by_alone(box: Box) -> None:
    """A lane's place in the index of the due ones is not written again with each message."""
    box.write("s", "a")
    changed: list[str] = []
    box.run_in_writer(
        lambda tx: tx.driver.execute(
            "CREATE TEMP TRIGGER seen AFTER UPDATE OF due_at, host, lease_id, losses ON lane BEGIN"
            " SELECT touched(); END"
        )
    )
    box.run_in_writer(lambda tx: tx.driver.create_function("touched", 0, lambda: changed.append("touched")))
    box.write("s", "b")
    box.count()
    assert changed == []
    assert box.lane("s").pending == 2
    box.write("t", "c", due_in_ms=None)
    box.write("t", "d")
    box.count()
    assert changed


def test_bytes_that_no_ledger_has_are_seen_after_some_commits(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "MEASURED_FOR_COMMITS", 3)
    box.write("s", "a")
    known = box.outbox._writer._standing

    def grow(tx: Any) -> None:
        tx.driver.execute("INSERT INTO kept VALUES ('large', ?)", ("x" * 1_000_000,))

    box.run_in_writer(grow)
    assert known.bytes(Ledger()) < 1_000_000
    for n in range(3):
        box.write("s", f"b{n}")
    assert known.bytes(Ledger()) > 1_000_000

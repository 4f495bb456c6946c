"""Conclusions: the same is queued once, both ids find it, and what is forgotten is gone."""

from __future__ import annotations

from pathlib import Path

from open_outbox import Box, request, said
from test_outbox_counters import check

from honchod.outbox.conclusions import Erased
from honchod.outbox.search import Sought
from honchod.outbox.values import Appended, Delivered, Kind, LaneKey, LeaseTerms, Settlement, Uncertain

FACT = "drinks tea only"


def conclude(box: Box, content: str = FACT, message_id: str = "c1", session: str = "s") -> Appended:
    return box(
        box.outbox.conclude(request(session, said(content, message_id, kind=Kind.CONCLUSION, fresh=True)))
    )


def ids(box: Box, conclusion_id: str) -> list[int]:
    return [row.id for row in box(box.outbox.conclusions_named(conclusion_id, ("h",), "w"))]


def deliver(box: Box, remote_id: str = "r1") -> None:
    lease = box.lease("h")
    box(box.outbox.settle(lease, Settlement(0, delivered=(Delivered(lease.events[0].id, remote_id),))))


def test_the_same_conclusion_is_queued_once_whatever_the_session(box: Box) -> None:
    assert conclude(box) == Appended("c1", 1, duplicate=False)
    assert conclude(box, message_id="c2", session="t") == Appended("c1", 1, duplicate=True)
    deliver(box)
    assert conclude(box, message_id="c3").duplicate
    assert box.value("SELECT count(*) FROM event") == 1


def test_a_conclusion_travels_alone_and_in_its_place(box: Box) -> None:
    box.write("s", "before")
    conclude(box)
    box.write("s", "after")
    kinds = []
    for _ in range(3):
        lease = box.lease("h", terms=LeaseTerms())
        kinds.append([event.kind.value for event in lease.events])
        delivered = tuple(Delivered(event.id, "r") for event in lease.events)
        box(box.outbox.settle(lease, Settlement(0, delivered=delivered)))
    assert kinds == [["message"], ["conclusion"], ["message"]]


def test_it_is_found_by_our_id_and_by_honchos(box: Box) -> None:
    conclude(box)
    assert ids(box, "c1") == [1]
    deliver(box, "r1")
    assert ids(box, "c1") == ids(box, "r1") == [1]
    assert ids(box, "r") == []
    assert box(box.outbox.conclusions_named("c1", ("other",), "w")) == []


def test_forgetting_what_waits_leaves_no_byte_and_the_lane_goes_on(box: Box) -> None:
    conclude(box, "secret xylophonist")
    box.write("s", "after")
    assert box(box.outbox.erase_conclusions([1])) == Erased(waiting=1, in_doubt=0)
    assert box(box.outbox.pending(LaneKey("h", "w", "s"))) == 1
    assert box(box.outbox.search(Sought("xylophonist", ("h",), "w"))) == []
    assert [event.content for event in box.lease("h").events] == ["after"]
    box(box.outbox._read(lambda reader: check(reader, box.outbox._writer._standing)))
    box.reopen()
    files = b"".join(path.read_bytes() for path in Path(box.directory).glob("outbox*"))
    assert b"xylophonist" not in files


def test_what_was_forgotten_may_be_concluded_again(box: Box) -> None:
    conclude(box)
    deliver(box)
    assert box(box.outbox.erase_conclusions([1])) == Erased(waiting=0, in_doubt=0)
    assert not conclude(box, message_id="c2").duplicate
    assert box(box.outbox.erase_conclusions([2])) == Erased(waiting=1, in_doubt=0)
    assert not conclude(box, message_id="c3").duplicate
    box(box.outbox._read(lambda reader: check(reader, box.outbox._writer._standing)))


def test_what_is_on_its_way_or_in_doubt_is_left_alone(box: Box) -> None:
    conclude(box)
    lease = box.lease("h")
    assert box(box.outbox.erase_conclusions([1])) == Erased(waiting=0, in_doubt=1)
    doubt = Uncertain(1, 1, box.clock.now_ms(), charge=True)
    box(box.outbox.settle(lease, Settlement(0, uncertain=doubt)))
    assert box(box.outbox.conclusions_named("c1", ("h",), "w"))[0].in_doubt
    assert box(box.outbox.erase_conclusions([1])) == Erased(waiting=0, in_doubt=1)


def test_what_waits_about_a_peer_is_listed_newest_first(box: Box) -> None:
    conclude(box, "one", "c1")
    conclude(box, "two", "c2", session="t")
    rows = box(box.outbox.waiting_conclusions("al", ("h",), "w", 10))
    assert [row.content for row in rows] == ["two", "one"]
    assert box(box.outbox.waiting_conclusions("bo", ("h",), "w", 10)) == []

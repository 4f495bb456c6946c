from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from leased_events import leased

from honchod.delivery.reconcile import reconcile
from honchod.outbox.values import Delivered

BATCH = tuple(leased(event_id) for event_id in range(1, 6))


@given(st.sets(st.integers(1, 9)))
def test_a_batch_is_split_into_what_is_there_and_what_is_missing_in_order(landed: set[int]) -> None:
    known = reconcile(BATCH, {f"own-{event_id}": f"remote-{event_id}" for event_id in landed})
    there = [event.id for event in BATCH if event.id in landed]
    missing = [event.id for event in BATCH if event.id not in landed]
    assert known.there == tuple(Delivered(event_id, f"remote-{event_id}") for event_id in there)
    assert [event.id for event in known.missing] == missing
    assert known.order_gap == (bool(there) and bool(missing) and missing[0] < there[-1])


def test_a_landed_beginning_is_no_gap_and_a_hole_is_one() -> None:
    assert not reconcile(BATCH, {"own-1": "a", "own-2": "b"}).order_gap
    assert reconcile(BATCH, {"own-2": "b"}).order_gap


def test_nothing_there_means_send_all_of_it() -> None:
    known = reconcile(BATCH, {})
    assert (known.there, known.missing, known.order_gap) == ((), BATCH, False)

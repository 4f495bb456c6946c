"""Which events of a failing batch die, and what finding them costs: played against a server of values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, log2

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from leased_events import leased

from honchod.delivery import bisect
from honchod.delivery.charges import BISECT_AFTER, charge
from honchod.outbox.values import Bisect, LeasedEvent

BATCH_MAX = 100
MAX_ATTEMPTS = 8
SIZES = st.integers(1, BATCH_MAX)


@dataclass
class Lane:
    """What the outbox keeps of a lane, and what the server stored and refused."""

    waiting: list[LeasedEvent]
    bad: frozenset[int]
    bisect: Bisect | None = None
    stored: list[int] = field(default_factory=list)
    dead: list[int] = field(default_factory=list)
    requests: int = 0
    lonely: dict[int, int] = field(default_factory=dict)
    """How often an event failed alone."""

    @classmethod
    def of(cls, size: int, bad: frozenset[int]) -> Lane:
        return cls([leased(event_id) for event_id in range(1, size + 1)], bad)

    def batch(self) -> list[LeasedEvent]:
        if self.bisect is None or self.waiting[0].id > self.bisect.last:
            self.bisect = None
            return self.waiting[:BATCH_MAX]
        upto = [event for event in self.waiting if event.id <= self.bisect.last]
        return upto[: self.bisect.limit]

    def accepts(self, batch: list[LeasedEvent]) -> bool:
        self.requests += 1
        if any(event.id in self.bad for event in batch):
            if len(batch) == 1:
                self.lonely[batch[0].id] = self.lonely.get(batch[0].id, 0) + 1
            return False
        self.stored.extend(event.id for event in batch)
        self.drop(batch)
        self.bisect = bisect.passed(self.bisect, batch)
        return True

    def drop(self, gone: list[LeasedEvent]) -> None:
        ids = {event.id for event in gone}
        self.waiting = [event for event in self.waiting if event.id not in ids]

    def die(self, event: LeasedEvent) -> None:
        self.dead.append(event.id)
        self.drop([event])


def deliver_with_rejections(lane: Lane) -> None:
    while lane.waiting:
        batch = lane.batch()
        if lane.accepts(batch):
            continue
        lane.bisect = bisect.narrowed(batch)
        if lane.bisect is None:
            lane.die(batch[0])


def deliver_with_charges(lane: Lane) -> None:
    """The server answers 500 for ever: each failure is looked up, found missing and charged."""
    while lane.waiting:
        batch = lane.batch()
        while batch and not lane.accepts(batch):
            charged = charge(batch, lane.bisect, max_attempts=MAX_ATTEMPTS)
            lane.waiting = [
                replace(event, attempts=event.attempts + 1) if event.id in charged.event_ids else event
                for event in lane.waiting
            ]
            lane.bisect = charged.bisect
            for died in charged.died:
                lane.die(next(event for event in lane.waiting if event.id == died.event_id))
            sent = {event.id for event in charged.send}
            batch = [event for event in lane.waiting if event.id in sent]


def sizes_with_bad(draw: st.DrawFn) -> tuple[int, frozenset[int]]:
    size = draw(SIZES)
    return size, draw(st.frozensets(st.integers(1, size), max_size=size))


BATCHES = st.composite(sizes_with_bad)()


@given(BATCHES)
@example((100, frozenset()))
@example((100, frozenset(range(1, 101))))
@example((1, frozenset({1})))
def test_only_bad_events_die_and_the_good_ones_keep_their_order(batch: tuple[int, frozenset[int]]) -> None:
    size, bad = batch
    lane = Lane.of(size, bad)
    deliver_with_rejections(lane)
    assert lane.dead == sorted(bad)
    assert lane.stored == [event_id for event_id in range(1, size + 1) if event_id not in bad]


@given(BATCHES)
def test_a_bad_event_costs_twice_the_logarithm_of_the_batch(batch: tuple[int, frozenset[int]]) -> None:
    size, bad = batch
    lane = Lane.of(size, bad)
    deliver_with_rejections(lane)
    assert lane.requests <= 1 + len(bad) * (2 * ceil(log2(size) if size > 1 else 0) + 2)


def test_one_bad_event_in_a_hundred_is_found_in_about_ten_requests() -> None:
    worst = 0
    for event_id in range(1, 101):
        lane = Lane.of(100, frozenset({event_id}))
        deliver_with_rejections(lane)
        worst = max(worst, lane.requests)
    assert worst <= 16


@pytest.mark.slow
@given(BATCHES)
@example((100, frozenset({100})))
def test_a_server_that_always_fails_on_a_message_costs_that_message_alone(
    batch: tuple[int, frozenset[int]],
) -> None:
    size, bad = batch
    lane = Lane.of(size, bad)
    deliver_with_charges(lane)
    assert lane.dead == sorted(bad)
    assert lane.stored == [event_id for event_id in range(1, size + 1) if event_id not in bad]
    assert lane.requests <= 1 + len(bad) * (2 * ceil(log2(size) if size > 1 else 0) + 2 + MAX_ATTEMPTS)


@pytest.mark.slow
@given(BATCHES)
def test_company_alone_never_exhausts_an_event(batch: tuple[int, frozenset[int]]) -> None:
    size, bad = batch
    lane = Lane.of(size, bad)
    deliver_with_charges(lane)
    assert all(lane.lonely[event_id] >= MAX_ATTEMPTS - BISECT_AFTER for event_id in lane.dead)


def test_an_event_that_failed_in_company_has_most_of_its_attempts_left() -> None:
    batch = [leased(1, attempts=BISECT_AFTER), leased(2)]
    charged = charge(batch, None, max_attempts=MAX_ATTEMPTS)
    assert charged.event_ids == (2,)
    assert charged.bisect == Bisect(last=2, limit=1)
    assert [event.id for event in charged.send] == [1]


def test_the_first_charge_in_company_repeats_the_batch() -> None:
    batch = [leased(1), leased(2)]
    charged = charge(batch, None, max_attempts=MAX_ATTEMPTS)
    assert (charged.event_ids, charged.died, charged.bisect) == ((1, 2), (), None)
    assert [event.id for event in charged.send] == [1, 2]


def test_a_charge_keeps_a_search_that_is_under_way() -> None:
    present = Bisect(last=9, limit=4)
    assert charge([leased(1)], present, max_attempts=MAX_ATTEMPTS).bisect == present


def test_an_event_dies_alone_at_its_last_attempt() -> None:
    charged = charge([leased(1, attempts=MAX_ATTEMPTS - 1)], None, max_attempts=MAX_ATTEMPTS)
    assert [(died.event_id, died.code) for died in charged.died] == [(1, "exhausted")]
    assert (charged.event_ids, charged.send, charged.bisect) == ((1,), (), None)


def test_nothing_missing_costs_nothing() -> None:
    charged = charge([], None, max_attempts=MAX_ATTEMPTS)
    assert (charged.event_ids, charged.died, charged.send) == ((), (), ())


def test_a_search_ends_behind_its_range_and_halves_within_it() -> None:
    assert bisect.passed(None, [leased(1)]) is None
    assert bisect.passed(Bisect(9, 4), [leased(9)]) is None
    assert bisect.passed(Bisect(9, 4), [leased(8)]) == Bisect(9, 2)
    assert bisect.passed(Bisect(9, 1), [leased(8)]) == Bisect(9, 1)
    assert bisect.passed(Bisect(9, 4), []) == Bisect(9, 2)
    assert bisect.narrowed([leased(1)]) is None
    assert bisect.narrowed([]) is None

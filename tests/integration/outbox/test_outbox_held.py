"""What waits for the end of turns or of the session (``writeFrequency``), in a real database."""

from __future__ import annotations

from typing import Any

from open_outbox import START_MS, Box

from honchod.identity.names import SessionName
from honchod.outbox.held import HELD_MS
from honchod.outbox.values import LaneKey, NothingDue

S = LaneKey("h", "w", "s")


def turn(box: Box, number: int, *, every: int | None, session: str = "s") -> None:
    """One turn as two requests: what the person said, then the answer that ends it."""
    hold(box, f"question {number}", session=session, every=every)
    hold(box, f"answer {number}", session=session, every=every, ends=True)


def hold(box: Box, *contents: str, every: int | None, ends: bool = False, session: str = "s") -> Any:
    return box.write(session, *contents, due_in_ms=None, every_turns=every, turn_ends=ends)


def is_due(box: Box) -> bool:
    return box.lane("s").due_at <= box.clock.wall_ms


def test_a_lane_is_due_with_every_third_turn_and_not_before(box: Box) -> None:
    for number in (1, 2):
        turn(box, number, every=3)
        assert not is_due(box)
    turn(box, 3, every=3)
    assert is_due(box)
    assert len(box.lease().events) == 6


def test_counting_starts_again_after_a_lane_was_due(box: Box) -> None:
    for number in (1, 2, 3):
        turn(box, number, every=3)
    box.deliver(box.lease())
    for number in (4, 5):
        turn(box, number, every=3)
        assert not is_due(box)
    turn(box, 6, every=3)
    assert is_due(box)


def test_turns_are_counted_across_a_restart(box: Box) -> None:
    turn(box, 1, every=2)
    box.reopen()
    turn(box, 2, every=2)
    assert is_due(box)


def test_what_comes_while_a_turn_is_on_its_way_waits_for_its_own(box: Box) -> None:
    turn(box, 1, every=1)
    lease = box.lease()
    hold(box, "question 2", every=1)
    box.deliver(lease)
    assert box.try_lease() == NothingDue(START_MS + HELD_MS)
    hold(box, "answer 2", every=1, ends=True)
    assert [event.content for event in box.lease().events] == ["question 2", "answer 2"]


def test_a_turn_on_its_way_that_fails_is_tried_again_after_its_backoff(box: Box) -> None:
    turn(box, 1, every=1)
    lease = box.lease()
    hold(box, "question 2", every=1)
    box.settle(lease, due_in_ms=5_000, failures=1, error="http_500")
    assert box.lane("s").due_at == START_MS + 5_000
    hold(box, "answer 2", every=1, ends=True)
    assert box.lane("s").due_at == START_MS + 5_000


def test_a_repeated_request_counts_its_turn_once(box: Box) -> None:
    for _ in range(3):
        hold(box, "a", every=2, ends=True)
    assert not is_due(box)


def test_a_turn_of_which_nothing_was_stored_counts_too(box: Box) -> None:
    hold(box, "question", every=1)
    box(box.outbox.end_turn(S, 1))
    assert is_due(box)


def test_a_turn_of_a_session_without_a_lane_makes_none(box: Box) -> None:
    box(box.outbox.end_turn(S, 1))
    assert box.value("SELECT count(*) FROM lane") == 0


def test_without_a_number_only_the_end_of_the_session_makes_it_due(box: Box) -> None:
    for number in range(5):
        turn(box, number, every=None)
    assert not is_due(box)
    assert box(box.outbox.end_session(S)) == 10
    assert is_due(box)


def test_the_end_of_a_session_starts_the_count_again(box: Box) -> None:
    turn(box, 1, every=2)
    box(box.outbox.end_session(S))
    box.deliver(box.lease())
    turn(box, 2, every=2)
    assert not is_due(box)


def test_the_end_of_a_session_does_not_shorten_a_backoff(box: Box) -> None:
    turn(box, 1, every=1)
    box.settle(box.lease(), due_in_ms=60_000, failures=1, error="http_500")
    hold(box, "question 2", every=1)
    box(box.outbox.end_session(S))
    assert box.lane("s").due_at == START_MS + 60_000


def test_nothing_is_held_for_longer_than_an_hour(box: Box) -> None:
    hold(box, "a", every=None)
    box.clock.pass_ms(HELD_MS - 1)
    hold(box, "b", every=None)
    assert isinstance(box.try_lease(), NothingDue)
    box.clock.pass_ms(1)
    assert len(box.lease().events) == 2


def test_housekeeping_lets_held_lanes_wait(box: Box) -> None:
    hold(box, "a", every=None)
    due_at = box.lane("s").due_at
    box(box.outbox.maintain(max_age_ms=10**9, longest_wait_ms=1_000, settle_delay_ms=500))
    assert box.lane("s").due_at == due_at


def test_waking_everything_wakes_held_lanes_to_their_end(box: Box) -> None:
    for number in range(60):
        turn(box, number, every=None)
    box(box.outbox.wake())
    box.deliver(box.lease())
    assert len(box.lease().events) == 20


def test_a_message_that_is_due_at_once_takes_the_held_ones_with_it(box: Box) -> None:
    hold(box, "a", every=None)
    box.write("s", "b")
    assert len(box.lease().events) == 2


def test_each_reset_starts_a_generation_of_its_own_and_survives_a_restart(box: Box) -> None:
    name, other = SessionName("h", "w", "s"), SessionName("h", "w", "t")
    assert [box(box.outbox.reset_session(name)) for _ in range(2)] == [1, 2]
    assert box(box.outbox.reset_session(other)) == 1
    box.reopen()
    assert box(box.outbox.generations()) == {name: 2, other: 1}


def test_a_reset_makes_what_waits_in_the_generation_before_due(box: Box) -> None:
    name = SessionName("h", "w", "s")
    box(box.outbox.reset_session(name))
    hold(box, "a", every=None, session=name.id_of(1))
    hold(box, "b", every=None, session="s")
    box(box.outbox.reset_session(name))
    assert [event.content for event in box.lease().events] == ["a"]
    assert isinstance(box.try_lease(), NothingDue)

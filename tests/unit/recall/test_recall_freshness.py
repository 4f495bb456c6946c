"""What a recall is worth, and when Honcho's queue is looked at."""

from __future__ import annotations

from itertools import product

import pytest

from honchod.recall import freshness
from honchod.recall.freshness import Held, QueueSeen, RecallStatus, combined, has_learned, is_fresh, judge

COLD, EMPTY, FRESH = RecallStatus.COLD, RecallStatus.EMPTY, RecallStatus.FRESH
STALE, UNAVAILABLE = RecallStatus.STALE, RecallStatus.UNAVAILABLE


@pytest.mark.parametrize(
    ("held", "failing", "expected"),
    [
        (None, False, COLD),
        (None, True, UNAVAILABLE),
        (Held(120.0, old=False, failed=False, empty=False), False, FRESH),
        (Held(120.0, old=False, failed=False, empty=False), True, FRESH),
        (Held(0.0, old=False, failed=False, empty=True), False, EMPTY),
        (Held(120.1, old=False, failed=False, empty=False), False, STALE),
        (Held(0.0, old=True, failed=False, empty=False), False, STALE),
        (Held(0.0, old=False, failed=True, empty=False), True, STALE),
        (Held(0.0, old=False, failed=True, empty=True), True, STALE),
    ],
)
def test_the_status_tells_what_an_answer_is_worth(
    held: Held | None, failing: bool, expected: RecallStatus
) -> None:
    assert judge(held, ttl_s=120.0, failing=failing) is expected
    assert is_fresh(held, 120.0) is (expected in (FRESH, EMPTY))


@pytest.mark.parametrize(
    ("view", "own", "found", "expected"),
    [
        (FRESH, None, None, FRESH),
        (EMPTY, None, None, EMPTY),
        (EMPTY, EMPTY, None, EMPTY),
        (EMPTY, FRESH, None, FRESH),
        (EMPTY, None, FRESH, FRESH),
        (EMPTY, COLD, None, COLD),
        (EMPTY, UNAVAILABLE, None, UNAVAILABLE),
        (FRESH, STALE, None, STALE),
        (FRESH, None, STALE, STALE),
        (FRESH, COLD, COLD, FRESH),
        (FRESH, UNAVAILABLE, UNAVAILABLE, FRESH),
        (STALE, FRESH, FRESH, STALE),
        (COLD, FRESH, None, COLD),
        (COLD, None, FRESH, FRESH),
        (UNAVAILABLE, None, STALE, STALE),
        (UNAVAILABLE, STALE, None, UNAVAILABLE),
    ],
)
def test_the_whole_is_as_good_as_its_worst_part(
    view: RecallStatus, own: RecallStatus | None, found: RecallStatus | None, expected: RecallStatus
) -> None:
    assert combined(view, own, found) is expected


@pytest.mark.parametrize(("view", "own", "found"), list(product([COLD, UNAVAILABLE, STALE], repeat=3)))
def test_a_failure_is_never_shown_as_empty(
    view: RecallStatus, own: RecallStatus, found: RecallStatus
) -> None:
    assert combined(view, own, found) not in (EMPTY, FRESH)


def test_looks_become_seldom_and_end() -> None:
    waits = []
    while (wait := freshness.poll_in_s(len(waits))) is not None:
        waits.append(wait)
    assert waits[0] == freshness.FIRST_POLL_S
    assert waits == sorted(waits)
    assert max(waits) == freshness.LONGEST_POLL_S
    assert sum(waits) > 1_800, "Honcho lets a small piece of work wait for half an hour"
    assert len(waits) == freshness.POLLS_MAX


@pytest.mark.parametrize(
    ("before", "now", "learned"),
    [
        (None, QueueSeen(0, 0), True),
        (None, QueueSeen(5, 2), False),
        (QueueSeen(5, 2), QueueSeen(5, 2), False),
        (QueueSeen(5, 2), QueueSeen(6, 1), True),
        (QueueSeen(5, 2), QueueSeen(5, 0), True),
        (QueueSeen(5, 0), QueueSeen(5, 0), False),
        (QueueSeen(5, 0), QueueSeen(5, 3), False),
    ],
)
def test_progress_of_the_queue_is_news(before: QueueSeen | None, now: QueueSeen, learned: bool) -> None:
    assert has_learned(before, now) is learned

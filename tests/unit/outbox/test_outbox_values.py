"""Values that carry a rule of their own."""

from __future__ import annotations

import pytest

from honchod.outbox.values import Bisect, Counts, LaneKey, Lease, Prepared, Settlement


@pytest.mark.parametrize("uncertain", [False, True])
def test_an_untouched_lease_is_handed_back_as_it_was_taken(uncertain: bool) -> None:
    prepared, bisect = Prepared("d", ("ann",)), Bisect(last=9, limit=4)
    lease = Lease(
        id="l",
        lane_id=1,
        lane=LaneKey("h", "w", "s"),
        scope=None,
        events=(),
        failures=3,
        prepared=prepared,
        uncertain=uncertain,
        charge=False,
        bisect=bisect,
        suspect=False,
        look_at_ms=None,
        leased_at_ms=0,
        until_ms=1,
    )
    back = Settlement.untouched(lease)
    assert (back.prepared, back.bisect, back.outcome) == (prepared, bisect, False)
    # What was in doubt stays in doubt.
    assert back.resolved is not uncertain
    assert (back.delivered, back.died, back.charged, back.uncertain) == ((), (), (), None)


def test_rows_are_those_of_all_states() -> None:
    assert Counts(queued=1, delivered=2, dead=4, discarded=8, bytes=100, delivered_ever=50).rows == 15

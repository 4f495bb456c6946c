from __future__ import annotations

from itertools import product

import pytest

from honchod.errors import IllegalTransition
from honchod.outbox.states import TERMINAL, TRANSITIONS, State, check
from honchod.outbox.values import Counts

LEGAL = {
    (State.QUEUED, State.DELIVERED),
    (State.QUEUED, State.DEAD),
    (State.QUEUED, State.DISCARDED),
    (State.DEAD, State.QUEUED),
    (State.DEAD, State.DISCARDED),
}


@pytest.mark.parametrize(("source", "target"), list(product(State, State)))
def test_every_pair_of_states_is_legal_or_raises(source: State, target: State) -> None:
    if (source, target) in LEGAL:
        check(source, target)
    else:
        with pytest.raises(IllegalTransition, match=f"{source} -> {target}"):
            check(source, target)


def test_the_table_names_every_state_and_nothing_leaves_a_terminal_one() -> None:
    assert set(TRANSITIONS) == set(State)
    assert {State.DELIVERED, State.DISCARDED} == TERMINAL


def test_counts_know_how_many_rows_are_held() -> None:
    assert Counts(queued=1, delivered=2, dead=3, discarded=4, bytes=99, delivered_ever=50).rows == 10

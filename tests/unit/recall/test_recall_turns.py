"""Turns, cadences, and prefetched answers in memory."""

from __future__ import annotations

import pytest
from recall_hosts import HandClock

from honchod.outbox.turns import TurnRow
from honchod.outbox.values import LaneKey
from honchod.recall import supplements, turns
from honchod.recall.supplements import Supplement, Supplements
from honchod.recall.turns import Turns

S, T, OTHER = LaneKey("h", "w", "s"), LaneKey("h", "w", "t"), LaneKey("i", "w", "s")


def test_turns_are_counted_and_cadences_remember_their_turn() -> None:
    counted = Turns(HandClock())
    assert counted.of(S).turns == 0
    assert not counted.knows(S)
    counted.ended(S)
    counted.asked_context(S)
    counted.ended(S)
    counted.asked_dialectic(S)
    row = counted.ended(S)
    assert (row.turns, row.context_turn, row.dialectic_turn) == (3, 1, 2)
    assert counted.of(T).turns == 0


def test_answers_that_say_nothing_are_counted_until_one_says_something() -> None:
    counted = Turns(HandClock())
    for _ in range(3):
        counted.heard(S, empty=True)
    assert counted.of(S).dialectic_empty == 3
    counted.heard(S, empty=False)
    assert counted.of(S).dialectic_empty == 0


def test_what_is_delivered_is_underived_until_it_is_derived() -> None:
    counted = Turns(HandClock())
    counted.delivered(S, 3)
    counted.delivered(T, 2)
    counted.delivered(OTHER, 1)
    assert dict(counted.underived) == {"h": 5, "i": 1}
    assert counted.to_derive() == [OTHER, T, S]
    counted.derived(S)
    counted.derived(S)
    assert dict(counted.underived) == {"h": 2, "i": 1}
    assert counted.to_derive() == [OTHER, T]


def test_only_changes_are_kept() -> None:
    clock = HandClock()
    counted = Turns(clock)
    counted.spoke(S, "ann")
    (row,) = counted.take_changes()
    assert row == TurnRow(S, peer="ann", used_at_ms=clock.now_ms())
    counted.spoke(S, "ann")
    assert counted.take_changes() == []


def test_what_was_kept_is_there_again() -> None:
    counted = Turns(HandClock())
    counted.fill([TurnRow(S, turns=4, underived=2), TurnRow(T, turns=1)], {"h": 7})
    assert counted.of(S).turns == 4
    assert counted.knows(T)
    assert counted.underived["h"] == 7
    assert counted.to_derive() == [S]
    counted.learn(TurnRow(S, turns=9))
    counted.learn(TurnRow(OTHER, turns=9))
    assert (counted.of(S).turns, counted.of(OTHER).turns) == (4, 9)
    assert counted.take_changes() == []


def test_the_oldest_sessions_go_once_they_are_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "KEPT", 2)
    counted = Turns(HandClock())
    lanes = [LaneKey("h", "w", str(number)) for number in range(4)]
    for lane in lanes[:3]:
        counted.ended(lane)
    assert all(counted.knows(lane) for lane in lanes[:3])
    counted.take_changes()
    counted.ended(lanes[3])
    assert [counted.knows(lane) for lane in lanes] == [False, True, True, True]


def take(waiting: Supplements, query: str = "", turns: int = 1, *, peek: bool = False) -> str | None:
    found = waiting.take(S, query, turns=turns, cadence=2, peek=peek)
    return None if found is None else found.text


def test_a_prefetched_answer_is_used_once_unless_peeked_at() -> None:
    waiting = Supplements()
    waiting.put(S, Supplement("a", 1, 0.0))
    assert waiting.has(S)
    assert take(waiting, peek=True) == "a"
    assert take(waiting) == "a"
    assert take(waiting) is None


def test_an_answer_to_a_query_is_never_held_against_another() -> None:
    waiting = Supplements()
    waiting.put(S, Supplement("a", 1, 0.0, query="q1"))
    assert take(waiting, "q2") is None
    assert take(waiting, "") is None
    assert take(waiting, "q1") == "a"
    waiting.put(S, Supplement("b", 1, 0.0))
    assert take(waiting, "q2") == "b"


def test_an_answer_that_outlived_its_cadence_is_dropped() -> None:
    waiting = Supplements()
    waiting.put(S, Supplement("a", 1, 0.0))
    assert take(waiting, turns=6) is None
    assert not waiting.has(S)


def test_another_session_has_no_part_in_it_and_a_newer_answer_replaces() -> None:
    waiting = Supplements()
    waiting.put(S, Supplement("a", 1, 0.0))
    waiting.put(S, Supplement("b", 2, 0.0))
    assert waiting.take(T, "", turns=1, cadence=2, peek=False) is None
    assert take(waiting, turns=2) == "b"


def test_prefetched_answers_are_bounded_and_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supplements, "KEPT", 2)
    waiting = Supplements()
    for number in range(3):
        waiting.put(LaneKey("h", "w", str(number)), Supplement("a", 1, 0.0))
    assert not waiting.has(LaneKey("h", "w", "0"))
    assert waiting.clear() == 2
    assert not waiting.has(LaneKey("h", "w", "2"))

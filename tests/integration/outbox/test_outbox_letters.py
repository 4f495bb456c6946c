"""Dead letters: seen, sent again, given up."""

from __future__ import annotations

import pytest
from open_outbox import START_MS, Box

from honchod.errors import NotFound
from honchod.outbox.letters import AttemptRow, Choice
from honchod.outbox.values import AttemptMade, Died

EVERY = Choice()


def ids(box: Box, choice: Choice, *, after: int = 0, limit: int = 50) -> list[int]:
    return [letter.id for letter in box(box.outbox.letters(choice, after=after, limit=limit))[0]]


def test_letters_are_listed_page_by_page_without_content(box: Box) -> None:
    made = box.bury("s", *"abcde")
    page, total = box(box.outbox.letters(EVERY, after=0, limit=2))
    assert ([letter.id for letter in page], total) == (made[:2], 5)
    assert page[0].content is page[0].metadata is None
    first = page[0]
    assert (first.host, first.workspace, first.session, first.peer) == ("h", "w", "s", "al")
    assert (first.code, first.kind, first.died_at_ms, first.size) == ("rejected_422", "message", START_MS, 1)
    assert ids(box, EVERY, after=made[1]) == made[2:]


def test_letters_are_chosen_by_session_code_and_id(box: Box) -> None:
    s = box.bury("s", "a", "b")
    t = box.bury("t", "c", code="exhausted")
    assert ids(box, Choice(session="s")) == s
    assert ids(box, Choice(code="exhausted")) == t
    assert ids(box, Choice(session="s", code="exhausted")) == []
    assert ids(box, Choice(ids=(s[1], t[0], 999))) == [s[1], t[0]]
    assert ids(box, Choice(ids=())) == []


def test_one_letter_is_shown_with_content_and_attempts(box: Box) -> None:
    box.write("s", "a")
    lease = box.lease()
    attempt = AttemptMade((1,), "rejected", 422, 7)
    box.settle(lease, died=(Died(1, "rejected_422"),), attempts=(attempt,), charged=(1,))
    letter, attempts = box(box.outbox.letter(1))
    assert (letter.content, letter.attempts) == ("a", 1)
    assert attempts == [AttemptRow(START_MS, "rejected", 422, 7)]


def test_only_dead_letters_are_shown_one_by_one(box: Box) -> None:
    box.write("s", "a")
    for letter_id in (1, 99):
        with pytest.raises(NotFound, match=str(letter_id)):
            box(box.outbox.letter(letter_id))


def test_a_retried_letter_goes_back_to_its_old_place_and_is_looked_for_first(box: Box) -> None:
    (dead,) = box.bury("s", "first")
    box.write("s", "second")
    box.clock.pass_ms(5)
    assert box(box.outbox.retry_letters(Choice(ids=(dead,)), limit=1)) == (1, frozenset({"h"}))
    lease = box.lease()
    assert ([event.content for event in lease.events], lease.uncertain) == (["first"], True)
    assert lease.events[0].attempts == 0
    box.deliver(lease)
    lease = box.lease()
    assert ([event.content for event in lease.events], lease.uncertain) == (["second"], False)


def test_a_retried_letter_does_not_expire_at_once(box: Box) -> None:
    (dead,) = box.bury("s", "old")
    box.clock.pass_ms(20 * 86_400_000)
    box(box.outbox.retry_letters(Choice(ids=(dead,)), limit=1))
    assert len(box.lease().events) == 1


def test_no_more_letters_go_back_than_asked_for_oldest_first(box: Box) -> None:
    made = box.bury("s", *"abc")
    box.bury("t", *"de")
    assert box(box.outbox.retry_letters(EVERY, limit=2)) == (2, frozenset({"h"}))
    assert ids(box, EVERY)[0] == made[2]
    assert box(box.outbox.retry_letters(EVERY, limit=50))[0] == 3
    assert box(box.outbox.retry_letters(EVERY, limit=50)) == (0, frozenset())
    assert (box.lane("s").pending, box.lane("t").pending) == (3, 2)


def test_letters_of_several_lanes_wake_each_of_them(box: Box) -> None:
    box.bury("s", "a")
    box.bury("t", "b")
    box(box.outbox.retry_letters(EVERY, limit=9))
    assert {box.lease().lane.session for _ in range(2)} == {"s", "t"}


def test_a_discarded_letter_is_gone_for_good_but_its_id_is_known(box: Box) -> None:
    (dead,) = box.bury("s", "a")
    assert box(box.outbox.discard_letters((dead, 99))) == 1
    assert box.contents("s") == [("discarded", None)]
    assert ids(box, EVERY) == []
    assert box(box.outbox.retry_letters(Choice(ids=(dead,)), limit=1)) == (0, frozenset())
    assert box(box.outbox.discard_letters((dead,))) == 0
    assert box.write("s", "a")[0].duplicate


def test_only_the_dead_can_be_discarded_or_retried(box: Box) -> None:
    box.write("s", "a", "b")
    box.settle(box.lease(), delivered=())
    before = box.contents("s")
    assert box(box.outbox.discard_letters((1, 2))) == 0
    assert box(box.outbox.retry_letters(Choice(ids=(1, 2)), limit=9)) == (0, frozenset())
    assert box.contents("s") == before

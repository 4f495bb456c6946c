"""Sessions, what their forms carry, and how often a login may be tried."""

from __future__ import annotations

from honchod.web import attempts, sessions
from honchod.web.attempts import Attempts
from honchod.web.sessions import Notice, Sessions


def test_a_session_is_found_by_its_id_only() -> None:
    book = Sessions()
    session = book.open(0.0)
    assert book.find(session.id, 1.0) is session
    assert book.find("", 1.0) is None
    assert book.find(None, 1.0) is None
    assert book.find(session.id[:-1], 1.0) is None


def test_ids_are_long_and_differ() -> None:
    book = Sessions()
    ids = {book.open(0.0).id for _ in range(20)}
    assert len(ids) == 20
    assert min(map(len, ids)) >= 43


def test_an_idle_session_ends_and_a_used_one_goes_on() -> None:
    book = Sessions()
    used, idle = book.open(0.0), book.open(0.0)
    assert book.find(used.id, sessions.IDLE_S) is used
    assert book.find(used.id, sessions.IDLE_S + 1) is used
    assert book.find(idle.id, sessions.IDLE_S + 1) is None


def test_no_session_lasts_longer_than_its_lifetime() -> None:
    book = Sessions()
    session = book.open(0.0)
    now_s = 0.0
    while now_s < sessions.LIFETIME_S:
        assert book.find(session.id, now_s) is session
        now_s += sessions.IDLE_S
    assert book.find(session.id, sessions.LIFETIME_S + 1) is None


def test_a_session_that_was_closed_is_gone() -> None:
    book = Sessions()
    session = book.open(0.0)
    book.close(session)
    book.close(session)
    assert book.find(session.id, 0.0) is None


def test_the_oldest_session_makes_room() -> None:
    book = Sessions()
    first, *others = [book.open(0.0) for _ in range(sessions.MAX + 1)]
    assert book.find(first.id, 0.0) is None
    assert all(book.find(session.id, 0.0) is session for session in others)


def test_what_forms_carry_belongs_to_one_visitor_of_one_process() -> None:
    book = Sessions()
    ann, bob = book.open(0.0), book.open(0.0)
    assert book.is_csrf(ann.id, ann.csrf)
    assert not book.is_csrf(ann.id, bob.csrf)
    assert not book.is_csrf(ann.id, "")
    assert not book.is_csrf(ann.id, "é")
    assert not Sessions().is_csrf(ann.id, ann.csrf)
    assert ann.id not in ann.csrf


def test_a_notice_is_shown_once() -> None:
    session = Sessions().open(0.0)
    session.notices.append(Notice("done"))
    assert session.take_notices() == [Notice("done")]
    assert session.take_notices() == []


def test_tries_run_out_and_come_back_with_time() -> None:
    bucket = Attempts()
    assert [bucket.wait_s(0.0) for _ in range(attempts.BURST)] == [0.0] * attempts.BURST
    assert bucket.wait_s(0.0) == attempts.REFILL_S
    assert 0 < bucket.wait_s(attempts.REFILL_S / 2) <= attempts.REFILL_S / 2
    assert bucket.wait_s(attempts.REFILL_S) == 0.0
    assert bucket.wait_s(attempts.REFILL_S) > 0
    assert [bucket.wait_s(1e9) for _ in range(attempts.BURST + 1)].count(0.0) == attempts.BURST


def test_a_right_try_costs_nothing() -> None:
    bucket = Attempts()
    for _ in range(attempts.BURST * 3):
        assert bucket.wait_s(0.0) == 0.0
        bucket.forgive()

"""Receipts: the last recalls, without content."""

from __future__ import annotations

from recall_hosts import HandClock, host_with, place_of

from honchod.identity.choices import Section
from honchod.recall.freshness import RecallStatus
from honchod.recall.receipts import KEPT, Recalled, Receipts


def test_a_receipt_says_what_a_recall_was() -> None:
    clock = HandClock()
    receipts = Receipts(clock)
    started_s = clock.mono_s
    clock.pass_s(0.0125)
    made = receipts.write(
        place_of(host_with()),
        Recalled(
            RecallStatus.STALE,
            has_query=True,
            query_matched=False,
            ages_s={Section.SUMMARY: 3.14159},
            truncated=(Section.SUMMARY,),
            chars=12,
            calls=2,
        ),
        started_s=started_s,
    )
    (receipt,) = receipts.latest(10)
    assert receipt.id == made
    assert (receipt.host, receipt.workspace, receipt.session) == ("h", "w", "s")
    assert (receipt.status, receipt.query, receipt.query_matched) == (RecallStatus.STALE, True, False)
    assert [(one.section, one.age_s) for one in receipt.sections] == [(Section.SUMMARY, 3.1)]
    assert (receipt.truncated, receipt.chars, receipt.calls, receipt.ms) == ([Section.SUMMARY], 12, 2, 12.5)


def test_the_latest_come_first_and_the_oldest_go() -> None:
    clock = HandClock()
    receipts = Receipts(clock)
    host = host_with()
    for number in range(KEPT + 5):
        receipts.write(
            place_of(host, f"s{number % 2}"),
            Recalled(RecallStatus.COLD, chars=number),
            started_s=clock.mono_s,
        )
    assert [one.chars for one in receipts.latest(2)] == [KEPT + 4, KEPT + 3]
    assert [one.chars for one in receipts.latest(2, session="s1")] == [KEPT + 3, KEPT + 1]
    assert len(receipts.latest(KEPT + 5)) == KEPT


def test_what_is_answered_again_has_grown_older() -> None:
    clock = HandClock()
    receipts = Receipts(clock)
    recalled = Recalled(RecallStatus.FRESH, ages_s={Section.SUMMARY: 1.0, Section.USER_CARD: 2.0})
    receipts.write(place_of(host_with()), recalled, started_s=clock.mono_s, older_by_s=10.04)
    (receipt,) = receipts.latest(10)
    assert [one.age_s for one in receipt.sections] == [11.0, 12.0]

"""What waits can be searched, and nothing else; what is over leaves no word behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from open_outbox import SMALL, Box, request, said

from honchod.outbox.letters import Choice
from honchod.outbox.search import STEP_ROWS, Sought, match_of
from honchod.outbox.transaction import Tx
from honchod.outbox.values import Delivered, Died, Kind, Settlement


def found(box: Box, query: str, **more: object) -> list[str]:
    sought = Sought(query, ("h",), "w", **more)  # type: ignore[arg-type]
    return [row.content for row in box(box.outbox.search(sought))]


def bytes_on_disk(box: Box) -> bytes:
    box.run_in_writer(lambda tx: None)
    return b"".join(path.read_bytes() for path in Path(box.directory).glob("outbox*"))


def test_a_waiting_row_is_found_by_any_word_and_by_how_a_word_begins(box: Box) -> None:
    box.write("s", "I moved to Lisbon", "I like tea")
    assert found(box, "where in Lisbon do I live?") == ["I moved to Lisbon"]
    assert found(box, "LISB") == ["I moved to Lisbon"]
    assert found(box, "nothing of it") == []


def test_the_best_match_comes_first_then_the_newest(box: Box) -> None:
    box.write("s", "tea is a drink", "green tea from Uji", "coffee", "tea again")
    assert found(box, "green tea") == ["green tea from Uji", "tea again", "tea is a drink"]
    assert found(box, "green tea", limit=1) == ["green tea from Uji"]


def test_accents_and_other_scripts_are_found(box: Box) -> None:
    box.write("s", "Caf\u00e9 in K\u00f6ln", "\u6211\u642c\u5230\u4e86\u91cc\u65af\u672c")
    assert found(box, "cafe") == found(box, "KOLN") == ["Caf\u00e9 in K\u00f6ln"]
    assert len(found(box, "\u6211\u642c\u5230")) == 1


def test_session_peer_kind_and_workspace_narrow_the_search(box: Box) -> None:
    box.write("s", "tea one")
    box.write("t", "tea two")
    box.write("u", "tea three", host="other")
    assert sorted(found(box, "tea")) == ["tea one", "tea two"]
    assert found(box, "tea", session="t") == ["tea two"]
    assert found(box, "tea", peer="nobody") == []
    assert found(box, "tea", kind=Kind.CONCLUSION) == []


@pytest.mark.parametrize("query", ['"', "a OR", "NEAR(", "content:x", "*", "-", "tea AND", "' OR 1=1 --"])
def test_a_query_is_never_read_as_an_expression(box: Box, query: str) -> None:
    box.write("s", "something")
    assert found(box, query) == []


def test_short_words_count_only_where_there_is_nothing_else() -> None:
    assert match_of("do I go") == '"do" OR "i" OR "go"'
    assert match_of("do I travel") == '"travel"*'
    assert match_of("?!") is None


def test_a_write_does_not_wait_for_the_index_and_is_found_all_the_same(box: Box) -> None:
    box.write("s", "tea here")
    assert box.value("SELECT upto FROM searchable") == 0
    assert found(box, "tea") == ["tea here"]
    assert box.value("SELECT upto FROM searchable") == 1


def test_more_rows_than_one_step_brings_in_are_found(box: Box) -> None:
    box.write("s", "tea here", *(f"coffee {number}" for number in range(STEP_ROWS)), "tea there")
    assert found(box, "tea") == ["tea there", "tea here"]


def test_what_is_delivered_before_anybody_searches_never_enters_the_index(box: Box) -> None:
    box.write("s", "tea here")
    box.deliver(box.lease("h"))
    assert found(box, "tea") == []

    def terms(tx: Tx) -> list[str]:
        tx.connection.exec_driver_sql("CREATE VIRTUAL TABLE temp.term USING fts5vocab(main, waiting, row)")
        return list(tx.connection.exec_driver_sql("SELECT term FROM temp.term").scalars())

    assert box.run_in_writer(terms) == []


def test_delivered_dead_and_revived_rows_leave_and_enter_the_index(box: Box) -> None:
    box.write("s", "tea here", "coffee there")
    assert found(box, "tea coffee") == ["coffee there", "tea here"]
    lease = box.lease("h")
    first, second = lease.events
    settled = Settlement(0, delivered=(Delivered(first.id, "r"),), died=(Died(second.id, "rejected_422"),))
    box(box.outbox.settle(lease, settled))
    assert found(box, "tea coffee") == []
    box(box.outbox.retry_letters(Choice(ids=(second.id,)), limit=10))
    assert found(box, "tea coffee") == ["coffee there"]


def test_words_of_what_was_delivered_and_dropped_are_in_no_byte_of_the_file(box: Box) -> None:
    box(box.outbox.append(request("s", said("the word is xylophonist", "m"))))
    box.write("t", "this one waits")
    assert found(box, "xylophonist") == ["the word is xylophonist"]
    lease = box.lease("h")
    box(box.outbox.settle(lease, Settlement(0, delivered=(Delivered(lease.events[0].id, "r"),))))
    box.clock.pass_ms(SMALL.content_after_delivery_ms + 1)
    box.maintain()
    box.reopen()
    assert b"xylophonist" not in bytes_on_disk(box)
    assert found(box, "waits") == ["this one waits"]


def test_rows_that_waited_before_the_upgrade_are_found(box: Box) -> None:
    box(box.outbox.append(request("s", said("file text", kind=Kind.FILE), said("said text"))))
    box.run_in_writer(
        lambda tx: tx.connection.exec_driver_sql("INSERT INTO waiting (waiting) VALUES ('integrity-check')")
    )
    assert found(box, "text") == ["said text"]

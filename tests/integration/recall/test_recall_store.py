"""What recall keeps in the database: answers and turns, over restarts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from sqlalchemy import event as listening

from honchod.clock import SystemClock
from honchod.outbox import cache, turns
from honchod.outbox.cache import CacheKey, CacheRow
from honchod.outbox.recall_store import RecallStore
from honchod.outbox.store import Outbox
from honchod.outbox.transaction import Tx
from honchod.outbox.turns import TurnRow
from honchod.outbox.values import Bounds, LaneKey

T = TypeVar("T")
KEY = CacheKey("d", "w", "s", "bot", "ann", "", 500, "")
ROW = CacheRow(KEY, '{"summary":"é"}', 1_000, 2_000, old=False)
LANE = LaneKey("h", "w", "s")
NOW_MS = 1_800_000_000_000


@pytest.fixture
def run(tmp_path: Path) -> Callable[[Callable[[RecallStore], Awaitable[T]]], T]:
    """Runs something on the store of a database that is opened for it, and closed again."""

    def in_store(work: Callable[[RecallStore], Awaitable[T]]) -> T:
        async def main() -> T:
            outbox = Outbox.open(tmp_path / "state", bounds=Bounds(), clock=SystemClock())
            try:
                return await work(outbox.recall)
            finally:
                await outbox.close()

        return asyncio.run(main())

    return in_store


def test_answers_are_kept_replaced_and_forgotten(run: Any) -> None:
    other = replace(ROW, key=msgspec.structs.replace(KEY, workspace="w2"), used_at_ms=3_000, old=True)
    newer = replace(ROW, parts='{"summary":"newer"}', fetched_at_ms=9_000)
    run(lambda store: store.save_answers([ROW, other], []))
    assert run(lambda store: store.answers(10)) == [other, ROW]
    run(lambda store: store.save_answers([newer], [other.key]))
    assert run(lambda store: store.answers(10)) == [newer]


def test_those_that_were_used_last_are_read_first(run: Any) -> None:
    rows = [
        replace(ROW, key=msgspec.structs.replace(KEY, session=str(at)), used_at_ms=at) for at in (5, 9, 1)
    ]
    run(lambda store: store.save_answers(rows, []))
    assert [row.used_at_ms for row in run(lambda store: store.answers(2))] == [9, 5]


def test_clearing_forgets_every_answer(run: Any) -> None:
    run(lambda store: store.save_answers([ROW], []))
    assert run(lambda store: store.clear_answers()) == 1
    assert run(lambda store: store.answers(10)) == []


def test_turns_are_kept_and_replaced(run: Any) -> None:
    row = TurnRow(LANE, 3, "ann", 3, 2, 1, 4, NOW_MS)
    run(lambda store: store.save_turns([TurnRow(LANE, used_at_ms=NOW_MS)]))
    run(lambda store: store.save_turns([row]))
    assert run(lambda store: store.turns(10)) == [row]
    assert run(lambda store: store.turns_of(LANE)) == row
    assert run(lambda store: store.turns_of(LaneKey("h", "w", "other"))) == TurnRow(
        LaneKey("h", "w", "other")
    )


def test_what_is_not_derived_is_summed_by_host(run: Any) -> None:
    rows = [
        TurnRow(LaneKey(host, "w", session), underived=count, used_at_ms=NOW_MS)
        for host, session, count in (("h", "a", 2), ("h", "b", 3), ("i", "a", 1), ("j", "a", 0))
    ]
    run(lambda store: store.save_turns(rows))
    assert run(lambda store: store.underived()) == {"h": 5, "i": 1}


def test_sessions_in_which_nothing_happened_for_long_are_forgotten_unless_something_is_underived(
    run: Any,
) -> None:
    old = [TurnRow(LaneKey("h", "w", "old"), 1), TurnRow(LaneKey("h", "w", "waits"), 1, underived=1)]
    run(lambda store: store.save_turns([*old, TurnRow(LANE, 1, used_at_ms=NOW_MS)]))
    assert {row.lane.session for row in run(lambda store: store.turns(10))} == {"s", "waits"}


@pytest.mark.parametrize(
    ("statement", "values", "step"),
    [
        (cache.LATEST, {"rows": 5}, "USING INDEX cache_used"),
        (turns.LATEST, {"rows": 5}, "USING INDEX turn_used"),
        (turns.ONE, {"host": "h", "workspace": "w", "session": "s"}, "sqlite_autoindex_turn_1 (host=?"),
        (
            cache.REMOVE,
            {f"of_{name}": "" for name in cache._KEY} | {"of_tokens": 0},
            "sqlite_autoindex_cache_entry_1 (destination=?",
        ),
    ],
)
def test_every_statement_finds_its_rows_by_an_index(run: Any, statement: Any, values: Any, step: str) -> None:
    def explain(tx: Tx) -> list[str]:
        def explained(_conn: Any, _cursor: Any, sql: str, given: Any, *_: Any) -> tuple[str, Any]:
            return f"EXPLAIN QUERY PLAN {sql}", given

        listening.listen(tx.connection, "before_cursor_execute", explained, retval=True)
        try:
            cursor = tx.connection.execute(statement, values).cursor
            assert cursor is not None
            return [row[3] for row in cursor.fetchall()]
        finally:
            listening.remove(tx.connection, "before_cursor_execute", explained)

    plan = run(lambda store: store._write(explain))
    assert any(step in line for line in plan), plan
    assert not any("TEMP B-TREE" in line for line in plan), plan

"""Every statement of the queue finds its rows by an index, in order, whatever the backlog."""

from __future__ import annotations

from typing import Any

import pytest
from open_outbox import Box
from sqlalchemy import event as listening
from sqlalchemy.sql.base import Executable

from honchod.outbox import (
    batches,
    conclusions,
    endings,
    intake,
    lanes,
    leases,
    letters,
    recovery,
    retention,
    search,
    tally,
    uncounted,
    views,
)
from honchod.outbox.letters import Choice
from honchod.outbox.schema import event
from honchod.outbox.transaction import Tx

ROWID = "INTEGER PRIMARY KEY"
ROWID_RANGE = "INTEGER PRIMARY KEY (rowid>?)"
LETTERS = letters._LIST.where(event.c.id > 3).limit(50)

PLANS: dict[str, tuple[Executable, dict[str, Any], str]] = {
    "the due lane": (leases.DUE, {"host": "h", "now": 1}, "lane_due (host=? AND due_at>? AND due_at<?)"),
    "the due suspect": (
        leases.DUE_SUSPECT,
        {"host": "h", "now": 1},
        "lane_suspect (host=? AND due_at>? AND due_at<?)",
    ),
    "when the next is due": (leases.NEXT_DUE, {"host": "h", "now": 1}, "lane_due (host=? AND due_at>?)"),
    "when the next suspect is due": (
        leases.NEXT_SUSPECT,
        {"host": "h", "now": 1},
        "lane_suspect (host=? AND due_at>?)",
    ),
    "the batch": (
        batches.BATCH,
        {"lane_id": 1, "upto": 9, "rows": 100},
        "event_queued (lane_id=? AND id<?)",
    ),
    "the batch at once": (
        batches.AT_ONCE,
        {"lane_id": 1, "upto": 9, "rows": 100},
        "event_queued (lane_id=? AND id<?)",
    ),
    "whether something waits": (
        leases._HAS_WAITING,
        {"lane_id": 1, "upto": 9},
        "event_queued (lane_id=? AND id<?)",
    ),
    "what came back from the dead": (
        leases._WAITING_UPTO,
        {"lane_id": 1, "upto": 9},
        "event_queued (lane_id=? AND id<?)",
    ),
    "the leased lane": (leases._MINE, {"lane_id": 1, "mine": "x"}, ROWID),
    "taking the lease": (
        leases._LEASE,
        {"lane_id": 1, "lease_id": "x", "lease_until": 1, "leased_at": 1, "lease_first": 1, "lease_last": 1},
        ROWID,
    ),
    "renewing the lease": (leases._RENEW, {"lane_id": 1, "mine": "x", "until": 1, "now": 1}, ROWID),
    "settling the lane": (
        leases._SETTLE,
        {"lane_id": 1, "mine": "x", **dict.fromkeys(leases._SETTLED_FIELDS, 0)},
        ROWID,
    ),
    "the events of a settlement": (endings._QUEUED, {"ids": "[1, 2, 3]"}, ROWID),
    "delivering": (endings._DELIVER, {"remote_ids": '{"1": "r"}', "now": 1}, ROWID),
    "dying": (endings._DIE, {"event_id": 1, "now": 1, "code": "c"}, ROWID),
    "charging": (endings._CHARGE, {"event_id": 1}, ROWID),
    "forgetting old attempts": (endings._OLD_ATTEMPTS, {"of": 1}, "attempt_event (event_id=?)"),
    "a step of the search index": (search.STEP_END, {"after": 1}, ROWID),
    "known ids": (
        intake._KNOWN,
        {"lane_id": 1, "ids": '["a", "b"]'},
        "sqlite_autoindex_event_1 (lane_id=? AND message_id=?)",
    ),
    "one known id": (
        intake._KNOWN_ONE,
        {"lane_id": 1, "message_id": "a"},
        "sqlite_autoindex_event_1 (lane_id=? AND message_id=?)",
    ),
    "the lane of a session": (
        lanes._LANE,
        {"host": "h", "workspace": "w", "session": "s"},
        "sqlite_autoindex_lane_1 (host=? AND workspace=? AND session=?)",
    ),
    "making several lanes due": (lanes.MAKE_DUE, {"lane_id": 1, "due": 1}, ROWID),
    "counting more in several lanes": (lanes.COUNT_MORE, {"lane_id": 1, "rows": 2}, ROWID),
    "waking one lane": (
        lanes._WAKE_ONE,
        {"now": 1, "on_host": "h", "on_workspace": "w", "on_session": "s"},
        "sqlite_autoindex_lane_1 (host=? AND workspace=? AND session=?)",
    ),
    "how much of a session waits": (
        lanes.PENDING,
        {"host": "h", "workspace": "w", "session": "s"},
        "sqlite_autoindex_lane_1 (host=? AND workspace=? AND session=?)",
    ),
    "a known conclusion": (
        conclusions._KNOWN,
        {"digest": b"d", "host": "h", "workspace": "w"},
        "event_concluded (digest=?)",
    ),
    "a conclusion by our id": (conclusions._IDS, {"of_id": "x"}, "event_conclusion (message_id=?)"),
    "a conclusion by Honcho's id": (
        conclusions._IDS,
        {"of_id": "x"},
        "event_conclusion_remote (remote_id=?)",
    ),
    "waking all lanes": (lanes._WAKE, {"now": 1}, "lane_pending (pending>?)"),
    "a uid's share": (tally._SHARE_OF, {"uid": 1}, ROWID),
    "the oldest waiting event": (views.OLDEST, {}, "event_waiting"),
    "the longest lanes": (views._TOP, {"rows": 20}, "lane_pending (pending>?)"),
    "the first event of a lane": (views._TOP, {"rows": 20}, "event_queued (lane_id=?)"),
    "the oldest waiting events": (views._OLD_EVENTS, {}, "event_waiting"),
    "some lanes": (views._THESE, {"ids": "[1]"}, ROWID),
    "their first events": (views._THESE, {"ids": "[1]"}, "event_queued (lane_id=?)"),
    "what is not counted of a lane": (uncounted._OF_LANE, {"lane_id": 1}, ROWID_RANGE),
    "rows to prune": (retention._OLDEST_ENDED, {"rows": 200}, "event_ended"),
    "ids past the window": (retention._ENDED_BEFORE, {"before": 1}, "event_ended (ended_at<?)"),
    "content to drop": (retention._KEPT_BEFORE, {"before": 1}, "event_kept (ended_at<?)"),
    "events that are too old": (retention._TOO_OLD, {"before": 1}, "event_waiting (queued_at<?)"),
    "due times of a wrong clock": (
        retention._CLAMP_DUE,
        {"latest_due": 1, "now": 1},
        "lane_pending (pending>?)",
    ),
    "looks of a wrong clock": (retention._CLAMP_LOOK, {"latest_look": 1}, "lane_pending (pending>?)"),
    "leases of the dead": (recovery._HELD, {}, "lane_leased (lease_id>?)"),
    "leases that ran out": (
        recovery._OVERDUE,
        {"now": 1, "latest": 1, "alive": ["x"]},
        "lane_leased (lease_id>?)",
    ),
    "what waits in each lane": (recovery._BOUNDS, {}, "event_queued"),
    "a page of letters": (LETTERS, {}, "event_dead (id>?)"),
    "a session's letters": (Choice(session="s", code="c").of(LETTERS), {}, "event_dead (id>?)"),
    "letters by id": (Choice(ids=(5, 6)).of(LETTERS), {}, ROWID),
    "one letter": (letters._ONE, {"event_id": 1}, ROWID),
    "a letter's attempts": (letters._HISTORY, {"event_id": 1}, "attempt_event (event_id=?)"),
}

ORDERED_SCANS = {
    "rows to prune": "event_ended",
    "what waits in each lane": "event_queued",
    "the oldest waiting events": "event_waiting",
}
"""Statements without a lower bound: they walk a partial index in its order, the first up to its limit."""


def plan_of(box: Box, statement: Executable, values: dict[str, Any]) -> list[str]:
    """SQLite's plan for the statement as SQLAlchemy compiles it, with the parameters it really gets."""

    def explain(tx: Tx) -> list[str]:
        def explained(_conn: Any, _cursor: Any, sql: str, given: Any, *_: Any) -> tuple[str, Any]:
            return f"EXPLAIN QUERY PLAN {sql}", given

        listening.listen(tx.connection, "before_cursor_execute", explained, retval=True)
        try:
            result = tx.connection.execute(statement, values)
            cursor = result.cursor
            assert cursor is not None
            return [row[3] for row in cursor.fetchall()]
        finally:
            listening.remove(tx.connection, "before_cursor_execute", explained)

    return box.run_in_writer(explain)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    opened = Box(tmp_path_factory.mktemp("plans") / "state")
    opened.write("s", *(f"m{n}" for n in range(50)))
    yield opened
    opened.close()


@pytest.mark.parametrize("name", PLANS)
def test_a_statement_uses_its_index(filled: Box, name: str) -> None:
    statement, values, index = PLANS[name]
    plan = plan_of(filled, statement, values)
    assert any(index in step for step in plan), plan


@pytest.mark.parametrize("name", PLANS)
def test_no_statement_reads_a_whole_table_or_sorts(filled: Box, name: str) -> None:
    statement, values, _ = PLANS[name]
    for step in plan_of(filled, statement, values):
        assert "TEMP B-TREE" not in step, step
        allowed = ORDERED_SCANS.get(name)
        scans_a_table = step.startswith(("SCAN event", "SCAN lane", "SCAN attempt"))
        assert not scans_a_table or (allowed is not None and f"USING INDEX {allowed}" in step), step


def test_counters_are_read_from_one_row_for_each_workspace_and_no_event(filled: Box) -> None:
    assert plan_of(filled, tally._BY_PLACE, {}) == ["SCAN tally"]


def test_what_is_not_counted_is_all_that_is_read_of_the_events(filled: Box) -> None:
    plan = plan_of(filled, uncounted._UNCOUNTED, {})
    assert [step for step in plan if " event" in step] == [f"SEARCH event USING {ROWID_RANGE}"]

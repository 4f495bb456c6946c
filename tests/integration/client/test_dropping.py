"""A client with a drop box: what it keeps, what it raises, and in which order things arrive."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_daemon import ScriptedDaemon, cut, problem, running_as_root, silent

from honchod.client import (
    AsyncClient,
    Client,
    DropFull,
    DropUnusable,
    IdConflict,
    NotAllowed,
    NotReachable,
    OutboxFull,
    QuotaUsedUp,
    Unprocessable,
    Written,
)
from honchod.client import box as boxes
from honchod.client import drop as dropping
from honchod.client.box import Box

Write = Callable[..., Written]


@pytest.fixture
def drop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "drop"
    monkeypatch.setenv("HONCHOD_DROP", str(path))
    # However busy this machine is: what is handed over is not a matter of time here.
    monkeypatch.setattr(dropping, "BUDGET_S", 60.0)
    monkeypatch.setattr(dropping, "TIMEOUT_S", 60.0)
    return path


@pytest.fixture(params=["blocking", "asyncio"])
def write(request: pytest.FixtureRequest, tmp_path: Path, drop: Path) -> Write:
    """Writes one message with a client of its own, which has a drop box."""

    def blocking(text: str, **options: Any) -> Written:
        with Client(tmp_path / "d.sock", drop=True, **options) as client:
            return client.write([{"content": text, "id": text}], session="s")

    async def awaited(text: str, **options: Any) -> Written:
        async with AsyncClient(tmp_path / "d.sock", drop=True, **options) as client:
            return await client.write([{"content": text, "id": text}], session="s")

    if request.param == "blocking":
        return blocking
    return lambda text, **options: asyncio.run(awaited(text, **options))


def waiting(drop: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(drop.glob("*.json"))]


def waiting_ids(drop: Path) -> list[str]:
    return [message["id"] for document in waiting(drop) for message in document["request"]["messages"]]


def written_ids(daemon: ScriptedDaemon) -> list[str]:
    return [message["id"] for request in daemon.requests for message in request.json["messages"]]


def test_what_finds_no_daemon_is_kept(write: Write, drop: Path) -> None:
    written = write("one")
    assert written.dropped
    assert (written.session, written.results[0].id, written.results[0].status) == ("s", "one", "dropped")
    (document,) = waiting(drop)
    assert document["tried"] is False
    assert document["uid"] == os.geteuid()
    assert document["request"]["session"] == "s"


def test_without_a_drop_box_it_is_raised_as_ever(tmp_path: Path, drop: Path) -> None:
    with Client(tmp_path / "d.sock") as client, pytest.raises(NotReachable):
        client.write([{"content": "one"}], session="s")
    assert not drop.exists()


def test_what_a_daemon_takes_is_not_kept(write: Write, daemon: ScriptedDaemon, drop: Path) -> None:
    assert not write("one").dropped
    assert not drop.exists()
    assert written_ids(daemon) == ["one"]


@pytest.mark.parametrize("code", ["draining", "busy"])
def test_what_a_daemon_that_stops_refuses_is_kept(
    write: Write, daemon: ScriptedDaemon, drop: Path, code: str
) -> None:
    daemon.plan(problem(503, code))
    assert write("one").dropped
    assert [document["tried"] for document in waiting(drop)] == [False]


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (422, "unprocessable", Unprocessable),
        (409, "id_conflict", IdConflict),
        (429, "quota", QuotaUsedUp),
        (507, "outbox_full", OutboxFull),
        (403, "not_allowed", NotAllowed),
    ],
)
def test_what_a_daemon_refuses_is_raised(
    write: Write, daemon: ScriptedDaemon, drop: Path, status: int, code: str, error: type[Exception]
) -> None:
    daemon.plan(problem(status, code))
    with pytest.raises(error):
        write("one")
    assert not drop.exists()


def test_a_write_whose_answer_is_lost_is_kept_under_the_ids_that_it_had(
    tmp_path: Path, daemon: ScriptedDaemon, drop: Path
) -> None:
    daemon.default = cut()
    with Client(daemon.path, drop=True) as client:
        (written,) = client.write([{"content": "one"}], session="s").results
    assert set(written_ids(daemon)) == {written.id}
    assert waiting_ids(drop) == [written.id]
    assert waiting(drop)[0]["tried"] is True


def test_a_daemon_that_says_nothing_is_not_waited_for_beyond_the_time(
    write: Write, daemon: ScriptedDaemon, drop: Path
) -> None:
    over = threading.Event()
    daemon.plan(silent(over))
    try:
        assert write("one").dropped
    finally:
        over.set()
    assert waiting(drop)[0]["tried"] is True


@pytest.mark.skipif(running_as_root(), reason="root may open any socket")
def test_a_socket_that_may_not_be_opened_is_no_daemon_that_is_away(
    write: Write, daemon: ScriptedDaemon, drop: Path
) -> None:
    daemon.path.chmod(0)
    with pytest.raises(NotAllowed):
        write("one")
    assert not drop.exists()


def test_what_waits_is_handed_over_before_what_is_new(write: Write, tmp_path: Path, drop: Path) -> None:
    for text in ("one", "two", "three"):
        assert write(text).dropped
    daemon = ScriptedDaemon(tmp_path / "d.sock")
    daemon.start()
    try:
        assert not write("four").dropped
    finally:
        daemon.stop()
    assert written_ids(daemon) == ["one", "two", "three", "four"]
    assert waiting(drop) == []


def test_what_cannot_be_handed_over_yet_is_joined_by_what_is_new(
    write: Write, tmp_path: Path, drop: Path
) -> None:
    write("one")
    write("two")
    daemon = ScriptedDaemon(tmp_path / "d.sock")
    daemon.start()
    daemon.plan(lambda connection, request: problem(507, "outbox_full")(connection, request))
    try:
        assert write("three").dropped
        assert waiting_ids(drop) == ["one", "two", "three"]
        assert not write("four").dropped
    finally:
        daemon.stop()
    assert written_ids(daemon) == ["one", "one", "two", "three", "four"]


def test_a_write_spends_only_so_long_on_what_was_left_before_it(
    write: Write, tmp_path: Path, drop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("one", "two", "three"):
        write(text)
    monkeypatch.setattr(dropping, "BUDGET_S", 0.0)
    daemon = ScriptedDaemon(tmp_path / "d.sock")
    daemon.start()
    try:
        assert write("four").dropped
    finally:
        daemon.stop()
    assert written_ids(daemon) == ["one"]
    assert waiting_ids(drop) == ["two", "three", "four"]


def test_while_somebody_else_takes_the_box_in_new_writes_join_it(
    write: Write, daemon: ScriptedDaemon, drop: Path
) -> None:
    with Box(str(drop), make=True) as box:
        box.put(b'{"version": 1}')
        assert box.lock()
        assert write("two").dropped
    assert written_ids(daemon) == []
    assert len(waiting(drop)) == 2


def test_what_can_never_be_handed_over_is_set_aside_and_blocks_nothing(
    write: Write, tmp_path: Path, drop: Path
) -> None:
    write("one")
    write("two")
    (drop / "00000000000000000001-1-1.json").write_text("no JSON")
    (drop / "00000000000000000002-1-1.json").write_text('{"request": {}}')
    daemon = ScriptedDaemon(tmp_path / "d.sock")
    daemon.start()
    daemon.plan(problem(422, "unknown_host"))
    try:
        assert not write("three").dropped
    finally:
        daemon.stop()
    assert written_ids(daemon) == ["one", "two", "three"]
    assert waiting(drop) == []
    assert len(list((drop / "bad").iterdir())) == 3


@pytest.mark.parametrize("tried", [True, False])
def test_ids_that_are_known_are_taken_only_after_a_lost_answer(
    write: Write, daemon: ScriptedDaemon, drop: Path, tried: bool
) -> None:
    document = {"version": 1, "tried": tried, "request": {"messages": [{"id": "one", "content": "1"}]}}
    with Box(str(drop), make=True) as box:
        box.put(json.dumps(document).encode())
    daemon.plan(problem(409, "id_conflict"))
    assert not write("two").dropped
    assert waiting(drop) == []
    assert (drop / "bad").exists() is not tried


def test_a_full_box_is_an_error_with_a_name(
    write: Write, drop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boxes, "FILES_MAX", 1)
    write("one")
    with pytest.raises(DropFull):
        write("two")
    assert waiting_ids(drop) == ["one"]


def test_a_box_that_cannot_be_made_is_an_error_with_a_name(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HONCHOD_DROP", str(tmp_path / "file" / "drop"))
    with pytest.raises(DropUnusable):
        write("one")


def test_a_user_without_a_home_writes_while_a_daemon_is_there(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HONCHOD_DROP", "XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DropUnusable, match="HONCHOD_DROP"):
        write("one")
    daemon = ScriptedDaemon(tmp_path / "d.sock")
    daemon.start()
    try:
        assert not write("two").dropped
    finally:
        daemon.stop()


def test_what_is_no_json_is_the_callers_mistake(tmp_path: Path, drop: Path) -> None:
    with Client(tmp_path / "d.sock", drop=True) as client, pytest.raises(ValueError, match="JSON"):
        client.write([{"content": "x", "metadata": {"n": float("nan")}}], session="s")
    assert not drop.exists()

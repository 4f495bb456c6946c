"""Taking the drop box in: in order, each file gone only once it is taken, nothing lost on the way."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from honchod.capture.requests import WriteRequest
from honchod.client.box import Box
from honchod.clock import SystemClock
from honchod.drop import taker as takers
from honchod.drop.contents import DropBox
from honchod.drop.taker import Taker
from honchod.errors import Draining, IdConflict, OutboxFull, QuotaUsedUp, RedactionFailed, UnknownHost

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a directory to somebody else")
NOBODY = 65_534


class Daemon:
    """Takes requests as an intake does; ``trouble`` is raised for those with that id."""

    def __init__(self, drop: Path) -> None:
        self._drop = drop
        self.taken: list[str] = []
        self.files_meanwhile: list[int] = []
        self.trouble: dict[str, Exception] = {}
        self.on_write: Callable[[str], None] = lambda _: None

    async def write(self, request: WriteRequest) -> None:
        (message,) = request.messages
        assert message.id is not None
        self.files_meanwhile.append(len(list(self._drop.glob("*.json"))))
        self.on_write(message.id)
        if message.id in self.trouble:
            raise self.trouble[message.id]
        self.taken.append(message.id)


@pytest.fixture
def drop(tmp_path: Path) -> Path:
    return tmp_path / "drop"


@pytest.fixture
def daemon(drop: Path) -> Daemon:
    return Daemon(drop)


@pytest.fixture
def taker(drop: Path, daemon: Daemon) -> Taker:
    return Taker(drop, daemon.write, clock=SystemClock())


def put(drop: Path, *ids: str, **changes: Any) -> None:
    with Box(str(drop), make=True) as box:
        for message_id in ids:
            request = {"session": "s", "messages": [{"id": message_id, "content": message_id}]}
            document = {"version": 1, "uid": os.geteuid(), "tried": False, "request": request, **changes}
            box.put(json.dumps(document).encode())


def take(taker: Taker, **options: Any) -> DropBox:
    asyncio.run(taker.take_in(**options))
    return taker.contents


def waiting(drop: Path) -> list[str]:
    documents = [json.loads(path.read_text()) for path in sorted(drop.glob("*.json"))]
    return [document["request"]["messages"][0]["id"] for document in documents]


def test_oldest_first_and_each_file_only_goes_once_it_is_taken(
    taker: Taker, daemon: Daemon, drop: Path
) -> None:
    put(drop, "1", "2", "3")
    assert take(taker) == DropBox()
    assert daemon.taken == ["1", "2", "3"]
    assert daemon.files_meanwhile == [3, 2, 1]
    assert waiting(drop) == []


def test_where_there_is_no_box_there_is_nothing_to_do(taker: Taker, daemon: Daemon) -> None:
    assert take(taker) == DropBox()
    assert take(Taker(None, daemon.write, clock=SystemClock())) == DropBox()


@pytest.mark.parametrize(
    ("problem", "trouble"),
    [
        *[(OutboxFull("full"), "refused"), (QuotaUsedUp("full"), "refused"), (Draining("ends"), "refused")],
        *[(RuntimeError("broken"), "failed"), (OSError("disk"), "failed")],
    ],
)
def test_what_cannot_be_taken_now_stays_and_all_behind_it(
    taker: Taker, daemon: Daemon, drop: Path, problem: Exception, trouble: str
) -> None:
    put(drop, "1", "2", "3")
    daemon.trouble = {"2": problem}
    assert take(taker) == DropBox(waiting=2, trouble=trouble)  # type: ignore[arg-type]
    assert daemon.taken == ["1"]
    assert waiting(drop) == ["2", "3"]
    daemon.trouble.clear()
    assert take(taker) == DropBox()
    assert daemon.taken == ["1", "2", "3"]


@pytest.mark.parametrize("problem", [UnknownHost("x"), RedactionFailed("x"), IdConflict("x")])
def test_what_can_never_be_taken_is_set_aside_and_blocks_nothing(
    taker: Taker, daemon: Daemon, drop: Path, problem: Exception
) -> None:
    put(drop, "1", "2", "3")
    daemon.trouble = {"2": problem}
    assert take(taker) == DropBox(bad=1)
    assert daemon.taken == ["1", "3"]
    assert waiting(drop / "bad") == ["2"]


def test_ids_that_are_known_since_a_lost_answer_are_taken(taker: Taker, daemon: Daemon, drop: Path) -> None:
    put(drop, "1", tried=True)
    daemon.trouble = {"1": IdConflict("other content")}
    assert take(taker) == DropBox()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        '{"version": 1}',
        json.dumps({"version": 2, "uid": os.geteuid(), "tried": False, "request": {"messages": []}}),
        json.dumps({"version": 1, "uid": os.geteuid() + 1, "tried": False, "request": {"messages": []}}),
        json.dumps({"version": 1, "uid": os.geteuid(), "tried": False, "request": {"messages": [{}]}}),
        json.dumps(
            {"version": 1, "uid": os.geteuid(), "tried": False, "request": {"messages": [], "more": 1}}
        ),
        "[" * 100_000,
    ],
)
def test_an_unreadable_file_is_set_aside(taker: Taker, daemon: Daemon, drop: Path, text: str) -> None:
    drop.mkdir()
    (drop / "00000000000000000001-1-1.json").write_text(text)
    put(drop, "1")
    assert take(taker) == DropBox(bad=1)
    assert daemon.taken == ["1"]
    assert (drop / "bad" / "00000000000000000001-1-1.json").read_text() == text


def test_what_comes_meanwhile_is_taken_too(taker: Taker, daemon: Daemon, drop: Path) -> None:
    put(drop, "1")
    daemon.on_write = lambda message_id: put(drop, "2") if message_id == "1" else None
    assert take(taker) == DropBox()
    assert daemon.taken == ["1", "2"]


def test_a_start_spends_only_so_long_on_it(taker: Taker, daemon: Daemon, drop: Path) -> None:
    put(drop, "1", "2")
    assert take(taker, within_s=0.0) == DropBox(waiting=2)
    assert take(taker) == DropBox()


def test_a_box_that_a_client_hands_over_is_left_to_it(taker: Taker, daemon: Daemon, drop: Path) -> None:
    put(drop, "1")
    with Box(str(drop)) as box:
        assert box.lock()
        assert take(taker) == DropBox(waiting=1)
    assert daemon.taken == []
    assert take(taker) == DropBox()


@AS_ROOT
def test_the_box_of_another_user_is_not_touched(taker: Taker, daemon: Daemon, drop: Path) -> None:
    put(drop, "1")
    os.chown(drop, NOBODY, NOBODY)
    assert take(taker) == DropBox(trouble="unusable")
    assert daemon.taken == []
    assert waiting(drop) == ["1"]


def test_it_looks_again_and_again_until_it_is_told_to_stop(
    taker: Taker, daemon: Daemon, drop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(takers, "LOOK_S", 0.01)

    async def live() -> None:
        arrived: asyncio.Queue[str] = asyncio.Queue()
        daemon.on_write = arrived.put_nowait
        running = asyncio.create_task(taker.run())
        for message_id in ("1", "2", "3"):
            put(drop, message_id)
            assert await asyncio.wait_for(arrived.get(), 60) == message_id
        taker.stop()
        await running

    asyncio.run(live())
    assert daemon.taken == ["1", "2", "3"]


def test_a_stop_waits_for_the_file_in_hand_and_begins_no_other(
    taker: Taker, daemon: Daemon, drop: Path
) -> None:
    put(drop, "1", "2", "3")
    daemon.on_write = lambda message_id: taker.stop() if message_id == "2" else None
    asyncio.run(taker.run())
    assert daemon.taken == ["1", "2"]
    assert waiting(drop) == ["3"]

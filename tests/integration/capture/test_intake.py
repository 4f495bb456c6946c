"""Which requests wait for their commit alone, and that all ways of taking one in are the same."""

from __future__ import annotations

import asyncio
import random
import string
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from honchod.capture.intake import Intake, Spoken
from honchod.capture.naming import NameRedactor
from honchod.capture.redact import Redactor
from honchod.capture.requests import IncomingMessage, WriteItem, WriteRequest, WriteResult
from honchod.clock import SystemClock
from honchod.errors import IdConflict, UnknownHost, Unprocessable
from honchod.identity import config
from honchod.identity.place import Places
from honchod.outbox.store import Outbox
from honchod.outbox.values import Bounds, LaneKey

T = TypeVar("T")
SAID = "I moved to Lisbon last spring, to a flat near the river."
LANE = LaneKey("default", "default", "s")


class Taking:
    """An intake with what it told."""

    def __init__(self, outbox: Outbox, **keys: Any) -> None:
        hosts = config.parse({"peerName": "ann", **keys}, {}, read_key=str, credential=None)
        redactor = Redactor()
        names = NameRedactor(redactor, b"salt")
        self.outbox = outbox
        self.intake = Intake(outbox, hosts, Places({}, names.hide), redactor, names, clock=SystemClock())
        self.spoken: list[Spoken] = []
        self.appended = 0
        self.intake.on_spoken = self.spoken.append
        self.intake.on_append = self._count

    def _count(self) -> None:
        self.appended += 1

    async def begin(self, request: WriteRequest) -> WriteResult | None:
        begun = self.intake.begin(request, uid=1, operator=False)
        return None if begun is None else begun.result(await begun.awaited)

    async def write(self, request: WriteRequest) -> WriteResult:
        return await self.intake.write(request, uid=1, operator=False)


def run(directory: Path, act: Callable[[Taking], Awaitable[T]], **keys: Any) -> T:
    """Act on an intake with an outbox of its own."""

    async def acted() -> T:
        outbox = Outbox.open(directory / "state", bounds=Bounds(max_bytes=64 << 20), clock=SystemClock())
        try:
            return await act(Taking(outbox, **keys))
        finally:
            await outbox.close()

    return asyncio.run(acted())


def request(*contents: str, turn_end: bool = False, **keys: Any) -> WriteRequest:
    messages = [IncomingMessage(text, id=f"m{number}", **keys) for number, text in enumerate(contents)]
    return WriteRequest(messages, session="s", turn_end=turn_end)


def random_words(chars: int) -> str:
    return "".join(random.Random(chars).choices(string.ascii_letters, k=chars))


SHORT = request(SAID)
MANY = request(*[SAID] * 100)
LONG = request(f"{SAID} " * 400)
NOTHING = request(" ")
WAITING_FOR_THEIR_COMMIT = [SHORT, MANY, LONG, NOTHING, request(SAID, "see ghp_" + random_words(36))]
LONG_WORK = [
    request(f"{SAID} " * 700),
    request(*[f"{SAID} " * 350] * 2),
    request(*[SAID] * 129),
    request(f"{SAID} " * 50 + "password=swordfish7"),
    request("<memory-context>old</memory-context> " + f"{SAID} " * 50),
    request(SAID, metadata={"note": "n" * 2_000}),
]


@pytest.mark.parametrize("asked", WAITING_FOR_THEIR_COMMIT)
def test_what_waits_for_its_commit_alone_is_begun_and_stored(tmp_path: Path, asked: WriteRequest) -> None:
    async def act(taking: Taking) -> None:
        written = await taking.begin(asked)
        assert written is not None
        stored = [one for one in written.results if one.status == "queued"]
        assert await taking.outbox.pending(LANE) == len(stored)
        assert taking.appended == bool(stored)
        assert [one.place.session for one in taking.spoken] == ["s"]

    run(tmp_path, act)


@pytest.mark.parametrize("asked", LONG_WORK)
def test_what_may_take_long_is_not_begun_in_the_loop(tmp_path: Path, asked: WriteRequest) -> None:
    async def act(taking: Taking) -> None:
        assert await taking.begin(asked) is None
        assert await taking.outbox.pending(LANE) == 0
        written = await taking.write(asked)
        assert {one.status for one in written.results} == {"queued"}
        assert taking.appended == len(taking.spoken) == 1

    run(tmp_path, act)


@pytest.mark.parametrize("frequency", ["turn", "session", 2])
def test_what_is_held_for_its_turn_is_not_begun(tmp_path: Path, frequency: object) -> None:
    async def act(taking: Taking) -> None:
        for asked in (SHORT, NOTHING, request(" ", turn_end=True)):
            assert await taking.begin(asked) is None
            await taking.write(asked)
        assert await taking.outbox.pending(LANE) == 1

    run(tmp_path, act, writeFrequency=frequency)


def test_a_request_is_answered_the_same_way_however_it_is_taken_in(tmp_path: Path) -> None:
    async def act(taking: Taking) -> list[WriteItem]:
        results = []
        for asked in (SHORT, request(SAID, " "), NOTHING):
            for way in (taking.begin, taking.write):
                written = await way(asked)
                assert written is not None
                results += written.results
        return results

    queued, again = WriteItem("m0", "queued", 1), WriteItem("m0", "duplicate", 1)
    left_out = WriteItem("m1", "skipped", reason="empty")
    empty = WriteItem("m0", "skipped", reason="empty")
    assert run(tmp_path, act) == [queued, again, again, left_out, again, left_out, empty, empty]


def test_what_is_wrong_is_said_before_the_wait_or_after_it(tmp_path: Path) -> None:
    async def act(taking: Taking) -> None:
        with pytest.raises(UnknownHost):
            taking.intake.begin(WriteRequest([], host="nobody"), uid=1, operator=False)
        with pytest.raises(Unprocessable):
            taking.intake.begin(WriteRequest([]), uid=1, operator=False)
        await taking.begin(SHORT)
        begun = taking.intake.begin(request("Something else."), uid=1, operator=False)
        assert begun is not None
        with pytest.raises(IdConflict):
            await begun.awaited
        assert taking.appended == len(taking.spoken) == 1

    run(tmp_path, act)


def test_whoever_stops_waiting_undoes_nothing(tmp_path: Path) -> None:
    async def act(taking: Taking) -> None:
        begun = taking.intake.begin(SHORT, uid=1, operator=False)
        assert begun is not None
        begun.awaited.cancel()
        written = await taking.write(SHORT)
        assert written.results[0].status == "duplicate"

    run(tmp_path, act)


def test_something_to_do_to_a_result_is_done_to_it_alone(tmp_path: Path) -> None:
    async def act(taking: Taking) -> None:
        begun = taking.intake.begin(SHORT, uid=1, operator=False)
        assert begun is not None
        told = begun.then(lambda written: written.session)
        assert told.result(await told.awaited) == "s"

    run(tmp_path, act)

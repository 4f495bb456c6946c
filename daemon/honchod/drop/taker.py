"""Takes the drop box in: before the door opens, and every few seconds while it is open.

A request goes the same way as one on the socket, and its file goes only once it is committed. What cannot be
taken in now stays, and all that is behind it: order comes before speed. What can never be taken in is moved
to ``bad`` in the box.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

import structlog

from honchod.capture.requests import WriteRequest
from honchod.client.box import Box, Entry, Unfit
from honchod.client.errors import DropUnusable
from honchod.client.fate import Fate, fate_of
from honchod.clock import Clock
from honchod.drop.contents import DropBox, Trouble
from honchod.drop.document import Document, Unreadable, read
from honchod.errors import Problem

log = structlog.get_logger("honchod.drop")

T = TypeVar("T")

LOOK_S: Final = 5.0
"""How often the box is looked into."""

HELD_S: Final = 0.5
"""When it is looked into again where somebody else was taking it in."""

Write = Callable[[WriteRequest], Awaitable[object]]
"""Takes a write of the box's owner in; it is committed when this returns. Raises a Problem."""


class Taker:
    """Takes in the box at ``path``; None: there is none. `run` until `stop`."""

    def __init__(self, path: Path | None, write: Write, *, clock: Clock) -> None:
        self._path = path
        self._write = write
        self._clock = clock
        self._stopping = asyncio.Event()
        self._held_elsewhere = False
        self.contents = DropBox()

    async def run(self) -> None:
        """Look into the box again and again, until told to stop."""
        while self._path is not None and not self._stopping.is_set():
            await self.take_in()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), HELD_S if self._held_elsewhere else LOOK_S)

    def stop(self) -> None:
        """Begin with nothing more: `run` returns after the file in hand."""
        self._stopping.set()

    async def take_in(self, within_s: float = math.inf) -> None:
        """Take in what waits now, as far as the time allows. Nothing in the box makes it raise."""
        if self._path is None:
            return
        self._held_elsewhere = False
        try:
            box, waiting, bad = await _in_thread(_opened, self._path)
            with box:
                if waiting:
                    seen = await self._take_in(box, waiting, self._clock.monotonic_s() + within_s)
                else:
                    seen = DropBox(bad=bad)
        except FileNotFoundError:
            seen = DropBox()
        except (OSError, DropUnusable):
            seen = DropBox(trouble="unusable")
        if seen.trouble is not None and seen.trouble != self.contents.trouble:
            log.error("drop.stuck", trouble=seen.trouble, waiting=seen.waiting)
        self.contents = seen

    async def _take_in(self, box: Box, waiting: list[Entry], until_s: float) -> DropBox:
        trouble: Trouble | None = None
        # A client that holds the lock hands the box over to some daemon, maybe to this one.
        self._held_elsewhere = not box.lock()
        while waiting and trouble is None and not self._held_elsewhere and self._goes_on(until_s):
            try:
                trouble = await self._take_each(box, waiting, until_s)
            finally:
                await _in_thread(box.sync)
            waiting = await _in_thread(box.entries)
        return DropBox(len(waiting), len(await _in_thread(box.bad)), trouble)

    async def _take_each(self, box: Box, entries: list[Entry], until_s: float) -> Trouble | None:
        """Take in one after the other until one does not go, or the time is over."""
        done, trouble = 0, None
        for entry in entries:
            trouble = await self._take(box, entry)
            if trouble is not None:
                break
            done += 1
            if not self._goes_on(until_s):
                break
        log.info("drop.taken", requests=done, left=len(entries) - done)
        return trouble

    def _goes_on(self, until_s: float) -> bool:
        return not self._stopping.is_set() and self._clock.monotonic_s() < until_s

    async def _take(self, box: Box, entry: Entry) -> Trouble | None:
        try:
            document = read(await _in_thread(box.read, entry), uid=os.geteuid())
        except FileNotFoundError:
            return None
        except (Unfit, Unreadable) as error:
            await self._set_aside(box, entry, str(error))
            return None
        try:
            await self._write(document.request)
        except Problem as problem:
            return await self._refused(box, entry, document, problem)
        except Exception as error:
            log.error("drop.failed", file=entry.name, error=type(error).__name__, exc_info=error)
            return "failed"
        await _in_thread(box.remove, entry)
        return None

    async def _refused(self, box: Box, entry: Entry, document: Document, problem: Problem) -> Trouble | None:
        match fate_of(problem.status, problem.code, tried=document.tried):
            case Fate.LATER:
                return "refused"
            case Fate.BAD:
                await self._set_aside(box, entry, problem.code)
            case Fate.TAKEN:
                await _in_thread(box.remove, entry)
        return None

    async def _set_aside(self, box: Box, entry: Entry, code: str) -> None:
        log.error("drop.bad", file=entry.name, code=code)
        await _in_thread(box.set_aside, entry)


def _opened(path: Path) -> tuple[Box, list[Entry], int]:
    """The box, what waits in it, and how many are set aside: all that most looks need, in one."""
    box = Box(os.fspath(path))
    try:
        box.tidy()
        return box, box.entries(), len(box.bad())
    except BaseException:
        box.close()
        raise


async def _in_thread(work: Callable[..., T], *arguments: object) -> T:
    """Do what may wait for a disk where nobody else waits for it."""
    return await asyncio.get_running_loop().run_in_executor(None, work, *arguments)

"""A daemon's outbox and worker, in virtual time, against a scripted Honcho. It can die at any moment."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar, cast

from scripted_honcho import Remote, ScriptedPool
from sqlalchemy.engine import Connection
from virtual_time import VirtualClock, VirtualLoop

from honchod.delivery.retry import Policy
from honchod.delivery.routes import Route, routes
from honchod.delivery.worker import Worker, WorkerSettings
from honchod.errors import OutboxFull
from honchod.gateway.pool import GatewayPool
from honchod.identity import config
from honchod.outbox import database
from honchod.outbox.states import TERMINAL
from honchod.outbox.store import Outbox
from honchod.outbox.transaction import Operation
from honchod.outbox.values import Append, Appended, Bounds, Kind, LaneKey, LeaseTerms, NewEvent
from support import disk

T = TypeVar("T")
START_MS = 1_780_000_000_000
DAY_MS = 86_400_000
HOSTS = ("h", "g")
SETTINGS = WorkerSettings(
    policy=Policy(), terms=LeaseTerms(batch_max=8), concurrency=4, request_timeout_s=30.0
)


def two_hosts() -> dict[str, Route]:
    """Two hosts of two destinations."""
    document = {
        "peerName": "al",
        "aiPeer": "bot",
        "hosts": {
            "h": {"baseUrl": "http://127.0.0.1:8001", "workspace": "w"},
            "g": {"baseUrl": "http://127.0.0.1:8002", "workspace": "v"},
        },
    }

    def no_file(name: str) -> str:
        raise ValueError(name)

    found = routes(config.parse(document, {}, read_key=no_file, credential=None), b"salt")
    return {name: found[name] for name in HOSTS}


class WatchedOutbox(Outbox):
    """The real one; it tells whether a thread is at work for it.

    It can be ``full`` like its disk, and ``dead`` like its process, after which it answers nobody.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._at_work: set[asyncio.Future[Any]] = set()
        self.dead = False
        self.full = False

    async def _write(self, operation: Operation[T], *, vital: bool = False) -> T:
        if self.dead:
            raise asyncio.CancelledError
        if self.full:
            raise OutboxFull("the disk is full: nothing was stored")
        return await self._watched(self._writer.submit(operation, vital=vital))

    async def _read(self, look: Callable[[Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        return await self._watched(loop.run_in_executor(self._readers, self._look, look))

    def is_busy(self) -> bool:
        """Whether an answer is on its way from a thread."""
        return any(not answer.done() for answer in self._at_work)

    async def _watched(self, answer: asyncio.Future[T]) -> T:
        self._at_work.add(answer)
        answer.add_done_callback(self._at_work.discard)
        return await answer


def _event(message_id: str, content: str, *, kind: Kind = Kind.MESSAGE) -> NewEvent:
    return NewEvent(
        message_id=message_id,
        pieces=(content,),
        peer="al",
        role="user",
        author="human",
        created_at_ms=START_MS,
        digest=hashlib.sha256(content.encode()).digest(),
        kind=kind,
    )


class World:
    """Everything on one machine, and Honcho. The process can stop, die and start; time passes by request."""

    def __init__(
        self,
        directory: Path,
        *,
        bounds: Bounds | None = None,
        settings: WorkerSettings = SETTINGS,
        seed: int = 0,
    ) -> None:
        self.directory = directory
        self.bounds = bounds or Bounds(max_rows=2_000, max_bytes=64 << 20, quota_share=1.0)
        self.settings = settings
        self.loop = VirtualLoop()
        self.clock = VirtualClock(self.loop, START_MS)
        self.random = Random(seed)
        self.remote = Remote()
        self.routes = two_hosts()
        self._left_behind: list[WatchedOutbox] = []
        self._reader: Connection | None = None
        self.start()

    def start(self) -> None:
        """Open what is on the disk and go to work, as the daemon does when it starts."""
        self.outbox = cast(
            "WatchedOutbox",
            WatchedOutbox.open(self.directory, bounds=self.bounds, clock=self.clock, synchronous="normal"),
        )
        self.loop.stand_still_while(self.outbox.is_busy)
        self.pool = ScriptedPool(self.remote)
        self.worker = Worker(
            self.outbox, cast("GatewayPool", self.pool), self.settings, clock=self.clock, random=self.random
        )

        async def work() -> None:
            await self.worker.open()
            await self.worker.use(self.routes.values())
            self.working = asyncio.create_task(self.worker.run())

        self.do(work())

    def do(self, what: Awaitable[T]) -> T:
        """Run this to its end."""

        async def wait() -> T:
            return await what

        return self.loop.run_until_complete(wait())

    def pass_time(self, seconds: float) -> None:
        """Let so much time pass, for everybody."""

        async def live() -> None:
            await asyncio.sleep(seconds)
            while self.outbox.is_busy():  # noqa: ASYNC110  the threads' answers come through the loop
                await asyncio.sleep(0)

        self.do(live())
        assert not self.working.done() or self.working.exception() is None, "the worker is gone"

    def append(self, host: str, session: str, *messages: tuple[str, str]) -> tuple[Appended, ...]:
        """Write (message id, content) pairs into a session."""
        events = tuple(_event(message_id, content) for message_id, content in messages)
        answer = self.do(self.outbox.append(Append(self._lane(host, session), events, 1000)))
        self.worker.notify()
        return answer

    def conclude(self, host: str, session: str, message_id: str, content: str) -> Appended:
        """Remember a conclusion in a session."""
        event = _event(message_id, content, kind=Kind.CONCLUSION)
        answer = self.do(self.outbox.conclude(Append(self._lane(host, session), (event,), 1000)))
        self.worker.notify()
        return answer

    def forget(self, host: str, message_id: str) -> bool:
        """Forget a conclusion. False for one that may have left already, or is over."""
        named = self.outbox.conclusions_named(message_id, (host,), self.routes[host].host.workspace)
        (row,) = self.do(named)
        return row.state not in TERMINAL and self.do(self.outbox.erase_conclusions([row.id])).waiting == 1

    def _lane(self, host: str, session: str) -> LaneKey:
        return LaneKey(host, self.routes[host].host.workspace, session)

    def crash(self) -> None:
        """Die without a word. What is on the disk stays; what went out may still land."""
        self.outbox.dead = True
        self._end_tasks()
        self._left_behind.append(self.outbox)
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        after = self.directory.with_name(f"after death {len(self._left_behind)}")
        self.directory = disk.copy_of(self.directory / database.FILE_NAME, after)

    def stop(self, timeout_s: float = 20.0) -> None:
        """End as on SIGTERM."""

        async def end() -> None:
            await self.worker.stop(timeout_s)
            await self.working

        self.do(end())
        self._end_tasks()
        self.loop.be_real()
        self.do(self.outbox.close())
        self.outbox.dead = True

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """What stands in the database."""
        if self._reader is None:
            self._reader = database.open_reader(self.directory / database.FILE_NAME)
        return list(self._reader.exec_driver_sql(sql, values))

    @property
    def reader(self) -> Connection:
        self.rows("SELECT 1")
        assert self._reader is not None
        return self._reader

    def landed(self, session: str) -> list[str]:
        """The contents that a session holds remotely, in order."""
        return [content for _, content in self.remote.sessions.get(session, [])]

    def waiting(self) -> int:
        """Events that are not delivered, nor dead."""
        return int(self.rows("SELECT count(*) FROM event WHERE state = 'queued'")[0][0])

    def run_until_quiet(self, limit_s: float = 40_000.0) -> None:
        """Let time pass until nothing waits."""
        until_s = self.loop.time() + limit_s
        while self.waiting():
            assert self.loop.time() < until_s, self.rows("SELECT * FROM lane WHERE pending > 0")
            self.pass_time(15.0)

    def run_until_leased(self, session: str, limit_s: float = 8_000.0) -> None:
        """Let time pass until a request of this session is in flight."""
        until_s = self.loop.time() + limit_s
        while not self.rows("SELECT 1 FROM lane WHERE session = ? AND lease_id IS NOT NULL", session):
            assert self.loop.time() < until_s
            self.pass_time(0.02)

    def moved(self, host: str) -> Route:
        """The route of a host whose URL was corrected."""
        route = self.routes[host]
        target = replace(route.host.destination, url="http://127.0.0.1:9009")
        moved = replace(route.host, destination=target)
        return routes({host: moved}, b"salt")[host]

    def fill_disk(self) -> None:
        """From now on no transaction finds room, whatever it changes."""
        self.outbox.full = True

    def free_disk(self) -> None:
        """There is room again."""
        self.outbox.full = False

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
        if not self.outbox.dead:
            self.crash()
        for task in self.remote.landing:
            task.cancel()
        self.do(asyncio.sleep(0.0))
        self.loop.be_real()
        for outbox in self._left_behind:
            self.do(outbox.close())
        self.do(self.loop.shutdown_default_executor())
        self.loop.close()

    def _end_tasks(self) -> None:
        """Cancel all that belongs to the process. What has left it goes on."""

        async def end() -> None:
            own = asyncio.all_tasks() - set(self.remote.landing) - {asyncio.current_task()}
            for task in own:
                task.cancel()
            await asyncio.gather(*own, return_exceptions=True)

        self.do(end())

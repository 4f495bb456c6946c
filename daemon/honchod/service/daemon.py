"""The composition root: puts the rooms together, and is what the front door talks to."""

from __future__ import annotations

import asyncio
import gc
import os
import platform
import sqlite3
from collections import Counter
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from logging import DEBUG
from pathlib import Path
from random import Random

import msgspec
import structlog

import honchod
from honchod.api.server import FrontDoor
from honchod.api.sockets import Listener
from honchod.begun import Begun
from honchod.capture.intake import Intake, Spoken
from honchod.capture.naming import NameRedactor
from honchod.capture.requests import WriteRequest, WriteResult
from honchod.capture.seeds import Seeds
from honchod.capture.sessions import SessionDesk
from honchod.clock import Clock
from honchod.delivery.circuit import Circuit
from honchod.delivery.deliver import Result
from honchod.delivery.routes import routes
from honchod.delivery.worker import Worker
from honchod.drop.taker import Taker
from honchod.errors import NotFound
from honchod.gateway.pool import GatewayPool
from honchod.identity.host import Hosts
from honchod.identity.place import Places
from honchod.memory.toolbox import Toolbox
from honchod.ops import checks, conditions, status
from honchod.ops.backups import Backups
from honchod.ops.exposition import Seen
from honchod.ops.metrics import Metrics
from honchod.ops.recent import RecentErrors
from honchod.ops.views import (
    Health,
    Info,
    Reloaded,
    Status,
    UiAccess,
)
from honchod.outbox.store import Outbox
from honchod.outbox.values import Lease
from honchod.recall.directory import Directory
from honchod.recall.recaller import Recaller
from honchod.service import wiring
from honchod.service.operating import Operating
from honchod.service.settings import Flags, Settings
from honchod.web import token
from honchod.web.server import PageServer, PageSettings

log = structlog.get_logger("honchod.service")

DROP_BOX_FIRST_S = 5.0
"""As long may taking the drop box in delay the opening of the door; the rest follows while it is open."""

FEATURES = (
    *("messages", "recall", "sessions", "prompt", "tools"),
    *("dead_letters", "worker", "checks", "backup", "reload", "metrics", "drop"),
)


class Daemon(Operating):
    """One running daemon: `open`, `serve`, `stop`. Also the backend of the front door."""

    def __init__(
        self,
        settings: Settings,
        hosts: Hosts,
        *,
        environ: Mapping[str, str],
        config: Path | None,
        flags: Flags,
        clock: Clock,
        random: Random,
    ) -> None:
        """``environ`` is the environment as it was at the start, ``config`` the file that a flag named."""
        self._settings = settings
        self._hosts = hosts
        self._environ = environ
        self._config = config
        self._flags = flags
        self._clock = clock
        self._random = random
        self._started_s = clock.monotonic_s()
        self._started_ms = clock.now_ms()
        self._recent = RecentErrors()
        self._ready = False
        self._verbose: bool = log.is_enabled_for(DEBUG)
        self.damaged = asyncio.Event()
        """Set when the database turns out to be damaged while it is in use: stop, and open `anew`."""
        self._metrics = Metrics(
            {
                "version": honchod.__version__,
                "python": platform.python_version(),
                "sqlite": sqlite3.sqlite_version,
            }
        )

    def anew(self) -> Daemon:
        """Another daemon with the configuration that this one has by now."""
        return Daemon(
            self._settings,
            self._hosts,
            environ=self._environ,
            config=self._config,
            flags=self._flags,
            clock=self._clock,
            random=self._random,
        )

    async def open(self, *, damaged: bool = False) -> None:
        """Open the outbox and start to deliver. ``damaged``: its database was found so while it was in use.

        Raises `StartRefused`, `OutboxFull` or `OSError`.
        """
        settings = self._settings
        self._outbox = Outbox.open(
            settings.state_dir,
            bounds=wiring.bounds(settings),
            clock=self._clock,
            synchronous=settings.outbox.synchronous,
            path=settings.outbox_path,
            damaged=damaged,
        )
        loop = asyncio.get_running_loop()
        self._outbox.watch.on_damage = lambda: loop.call_soon_threadsafe(self.damaged.set)
        self._outbox.on_commit(self._metrics.committed)
        self._backups = Backups(self._outbox, settings.state_dir, self._clock)
        self._page = self._make_page()
        self._pool = GatewayPool(
            timeout_s=settings.delivery.request_timeout_s,
            rate=lambda url: self._settings.delivery.rate(url),
            clock=self._clock,
        )
        self._worker = Worker(
            self._outbox, self._pool, wiring.worker_settings(settings), clock=self._clock, random=self._random
        )
        self._worker.on_result = self._delivered
        self._salt = await self._outbox.salt()
        redactor = wiring.redactor(settings)
        names = NameRedactor(redactor, self._salt)
        self._places = Places(await self._outbox.generations(), names.hide)
        self._intake = Intake(self._outbox, self._hosts, self._places, redactor, names, clock=self._clock)
        # Whoever has waited for the commit is answered before the scheduler looks for work.
        self._intake.on_append = partial(asyncio.get_running_loop().call_soon, self._worker.notify)
        self.seeds = Seeds(self._outbox, self._hosts, self._places, redactor, names, clock=self._clock)
        self.seeds.on_append = self._worker.notify
        self.sessions = SessionDesk(self._outbox, self._hosts, self._places)
        self.sessions.on_due = self._worker.notify
        await self._worker.open()
        ways = routes(self._hosts, self._salt)
        await self._worker.use(ways.values())
        self.recaller = Recaller(
            self._outbox.recall,
            self._pool,
            Directory(self._places, self._hosts, ways),
            wiring.recall_settings(settings),
            circuit_of=self._circuit_of,
            redact=redactor.text if redactor else None,
            salt=self._salt,
            clock=self._clock,
        )
        await self.recaller.open()
        self.toolbox = Toolbox(
            self._outbox,
            self._pool,
            self.recaller,
            self._places,
            self._hosts,
            ways,
            redactor,
            clock=self._clock,
        )
        self.toolbox.on_append(self._worker.notify)
        self._intake.on_spoken = self._spoken
        # What is there by then stays: to look through it for garbage would hold everybody up, now and again.
        self._pool.load().add_done_callback(lambda _: gc.freeze())
        self._working = asyncio.create_task(self._worker.run())
        self._working.add_done_callback(_worker_ended)
        for warning in self._hosts.warnings:
            log.warning("config.warning", warning=warning)
        for notice in await self._outbox.notices():
            log.error("notice.unacknowledged", notice=conditions.sentence(notice))
        if not self._outbox.watch.checked:
            self._outbox.watch.check()
        self._taker = Taker(settings.drop_dir, self._write_own, clock=self._clock)
        # Before the door opens: what was said while the daemon was away comes before what is said now.
        await self._taker.take_in(within_s=DROP_BOX_FIRST_S)
        self._taking = asyncio.create_task(self._taker.run())

    async def serve(self, listener: Listener) -> None:
        """Open the front door."""
        self._door = FrontDoor(
            self,
            limits=wiring.limits(self._settings),
            access=wiring.access(self._settings),
            observe=self._metrics.answered,
        )
        await self._door.start(listener)
        if self._page is not None:
            await self._page.start()
        self._ready = True

    async def stop(self) -> None:
        """Refuse intake, let requests in flight end within the stop budget, hand back leases, checkpoint."""
        budget_s = self._settings.delivery.stop_timeout_s
        self._door.refuse_intake()
        self._backups.close()
        self._taker.stop()
        self._ready = False
        if self._page is not None:
            await self._page.close()
        await self._taking
        await self._worker.stop(budget_s * 0.8)
        await self._working
        await self._door.stop(budget_s * 0.1)
        await self.recaller.close()
        await self._pool.close()
        await self._outbox.close()

    async def write(self, request: WriteRequest, *, uid: int, operator: bool) -> WriteResult:
        """Take messages in, all or nothing; returns after the fsync."""
        return self._told(request, uid, await self._intake.write(request, uid=uid, operator=operator))

    def begin_write(self, request: WriteRequest, *, uid: int, operator: bool) -> Begun[WriteResult] | None:
        """As `write`, for a request that waits for its commit alone; None for any other."""
        begun = self._intake.begin(request, uid=uid, operator=operator)
        return begun.then(partial(self._told, request, uid)) if self._verbose and begun else begun

    def _told(self, request: WriteRequest, uid: int, written: WriteResult) -> WriteResult:
        if self._verbose:
            log.debug(
                "messages.taken",
                host=request.host,
                uid=uid,
                **Counter[str](result.status for result in written.results),
            )
        return written

    async def _write_own(self, request: WriteRequest) -> WriteResult:
        """Take in what the daemon's own user left in the drop box."""
        return await self.write(request, uid=os.geteuid(), operator=True)

    def health(self, within_s: float | None = None) -> Health:
        """Whether the writer and the scheduler make progress (``within_s``: sooner than is usual)."""
        return status.health(self._outbox, self._worker, self._clock, within_s=within_s)

    def ready(self) -> bool:
        """Whether the daemon serves."""
        return self._ready

    def info(self) -> Info:
        """Versions, limits, socket and features."""
        return Info(
            version=honchod.__version__,
            api="v1",
            python=platform.python_version(),
            sqlite=sqlite3.sqlite_version,
            sdk=version("honcho-ai"),
            socket=str(self._settings.socket),
            pid=os.getpid(),
            limits=wiring.limits(self._settings),
            features=list(FEATURES),
        )

    async def status(self, *, oldest: bool = False) -> Status:
        """The whole daemon at a glance; ``oldest``: with the lanes that have waited longest."""
        seen = await status.status(
            self._outbox,
            self._worker,
            self._hosts,
            self._recent,
            self.recaller.facts(),
            clock=self._clock,
            started_s=self._started_s,
            notices=list(self._hosts.warnings),
            oldest=oldest,
        )
        drop = self._taker.contents
        return msgspec.structs.replace(
            seen,
            backup=self._backups.progress,
            drop=drop,
            notices=[*seen.notices, *conditions.of_drop_box(drop)],
        )

    async def reload(self) -> Reloaded:
        """Read the configuration again. Raises `ConfigError`, and then nothing has changed."""
        fresh, hosts = wiring.load(self._config, self._environ, self._flags)
        restart = [
            name
            for name in ("state_dir", "socket", "outbox_path", "drop_dir", "outbox", "limits", "http")
            if getattr(fresh, name) != getattr(self._settings, name)
        ]
        kept = {name: getattr(self._settings, name) for name in restart}
        self._settings = msgspec.structs.replace(fresh, **kept)
        self._hosts = hosts
        self._pool.timeout_s = fresh.delivery.request_timeout_s
        self._worker.configure(wiring.worker_settings(fresh))
        ways = routes(hosts, self._salt)
        await self._worker.use(ways.values())
        redactor = wiring.redactor(fresh)
        self.recaller.configure(wiring.recall_settings(fresh))
        self.recaller.use(hosts, ways, redactor.text if redactor else None)
        self.toolbox.use(hosts, ways, redactor)
        names = NameRedactor(redactor, self._salt)
        self._places.use(names.hide)
        self._intake.use(hosts, redactor, names)
        self.seeds.use(hosts, redactor, names)
        self.sessions.use(hosts)
        self._door.allow(wiring.access(fresh))
        log.info("config.reloaded", hosts=sorted(hosts), restart_needed=restart)
        return Reloaded(sorted(hosts), restart)

    @property
    def hosts(self) -> Hosts:
        """The configured hosts by name."""
        return self._hosts

    def ui(self, *, show_token: bool) -> UiAccess:
        """Where the web page is, and its token where it may be shown. Raises NotFound without a page."""
        if self._page is None:
            raise NotFound('there is no page: set listen = "127.0.0.1:9747" under [http], and restart')
        return self._page.access(again=show_token)

    async def metrics(self) -> bytes:
        """The metrics in Prometheus's text format."""
        return self._metrics.render(
            Seen(
                await self.status(),
                self.health(),
                wiring.bounds(self._settings),
                checks.free_bytes(self._settings.state_dir),
            )
        )

    def _make_page(self) -> PageServer | None:
        http = self._settings.http
        if http.address is None:
            return None
        page = PageSettings(
            address=http.address,
            token_file=Path(http.token_file or self._settings.state_dir / token.FILE_NAME),
            webhook_secret_file=Path(http.webhook_secret_file) if http.webhook_secret_file else None,
        )
        return PageServer.bound(self, page, self._clock)

    def _spoken(self, spoken: Spoken) -> None:
        self.recaller.spoke(spoken.place, peer=spoken.peer, said=spoken.text, turn_ended=spoken.turn_ended)

    def _circuit_of(self, destination: str) -> Circuit | None:
        known = self._worker.destinations.get(destination)
        return None if known is None else known.circuit

    def _delivered(self, lease: Lease, result: Result) -> None:
        self._metrics.delivered(lease.lane.host, result)
        self.recaller.delivered(lease.lane, result.delivered)
        if result.verdict is not None:
            self._recent.add(result.verdict.code, lease.lane.host, self._clock.now_ms())
        for died in result.settlement.died:
            self._recent.add(died.code, lease.lane.host, self._clock.now_ms())


def _worker_ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.critical("worker.broke", error=type(error).__name__, exc_info=error)

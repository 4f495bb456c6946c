"""The writer: one thread, one connection, everything that changes the database.

It takes all that is queued, runs it in one ``BEGIN IMMEDIATE`` transaction, commits once, then resolves the
waiting futures: group commit, with no artificial delay.

No operation can fail its neighbours. A group is run together first, as if nothing could fail: operations
that have a common way (`Joint`) take it. When anything fails, all of it is undone and the group is run again
with a savepoint for each operation, so that what fails leaves no trace. When the transaction itself is lost
(a full disk), the group is run once more, each operation in a transaction of its own.

Checkpoints are the writer's too: SQLite makes one in a commit now and then (`database.WAL_PAGES`), and the
WAL is emptied when the writer is idle, or when readers let it grow past its bound.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import structlog
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from honchod.errors import Draining, OutboxFull
from honchod.outbox import database, tally
from honchod.outbox.ballast import Ballast
from honchod.outbox.extent import Extent
from honchod.outbox.sqlite_errors import is_damage, is_no_room
from honchod.outbox.states import State
from honchod.outbox.tally import Ledger

log = structlog.get_logger("honchod.outbox")

A = TypeVar("A")
T = TypeVar("T")
GROUP_MAX: Final = 512
IDLE_CHECKPOINT_S: Final = 1.0
WAL_LIMIT_BYTES: Final = 16 << 20
WAL_STEP_BYTES: Final = 4 << 20
FULL_RETRY_S: Final = 5.0


@dataclass(slots=True)
class Group:
    """What the operations of one transaction share.

    ``ledger`` holds what those that are done have changed: it is not in the counters yet. ``extent`` is how
    full the database was before; None until somebody asked. ``new_lanes`` are the ids of the lanes that the
    transaction made: they may yet be undone with it.
    """

    ledger: Ledger = field(default_factory=Ledger)
    extent: Extent | None = None
    new_lanes: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Tx:
    """What an operation works with: the connection, the time of its group, and its own ledger.

    ``driver`` is the same connection without Core, for compiled statements.
    """

    connection: Connection
    driver: sqlite3.Connection
    now_ms: int
    group: Group
    ledger: Ledger = field(default_factory=Ledger)


OnCommit = Callable[[float, int, Mapping[State, int]], None]
Operation = Callable[[Tx], T]
"""Runs in the writer thread. It may be run again when a group is repeated: it keeps no state outside."""


@dataclass(frozen=True, slots=True)
class Joint(Generic[A, T]):
    """An operation that its neighbours of the same kind can be done together with, in fewer statements.

    ``together`` answers for each argument in their order, or raises; ``alone`` decides about one.
    """

    argument: A
    alone: Callable[[Tx, A], T]
    together: Callable[[Tx, Sequence[A]], Sequence[T]]

    def __call__(self, tx: Tx) -> T:
        """Do it alone."""
        return self.alone(tx, self.argument)


@dataclass(slots=True)
class _Job(Generic[T]):
    operation: Operation[T] | Joint[Any, T]
    future: asyncio.Future[T]
    vital: bool
    result: T | None = None
    error: BaseException | None = None


_Begin = Callable[[], Tx]
_Way = Callable[[Sequence[_Job[Any]], _Begin], None]
"""How the jobs of a transaction are run; each operation begins with what it works with."""


@dataclass(frozen=True, slots=True)
class WriterStats:
    """What the writer did since it started.

    ``busy_s`` is how long the oldest operation without an answer has waited for it: a thread that is stuck,
    wherever, or gone shows in it.
    """

    commits: int
    p50_ms: float
    p99_ms: float
    mean_group: float
    queued: int
    busy_s: float


class Writer:
    """Owns the writing connection. `submit` from one event loop; `close` once."""

    def __init__(
        self,
        connection: Connection,
        wal: Path,
        *,
        now_ms: Callable[[], int],
        ballast: Ballast,
        on_error: Callable[[BaseException], None],
    ) -> None:
        """``on_error`` is called in the writer thread with whatever ends an operation."""
        self._connection = connection
        self._driver = database.driver_of(connection)
        self._wal = wal
        self._now_ms = now_ms
        self._ballast = ballast
        self._on_error = on_error
        self._queue: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="honchod-writer", daemon=True)
        self._closed = False
        self._fold = True
        self._wal_dirty = False
        self._wal_bound = WAL_LIMIT_BYTES
        self._commits = 0
        self._operations = 0
        self._commit_ms: deque[float] = deque(maxlen=1000)
        self._unanswered: deque[float] = deque()
        """When each operation was submitted, oldest first; answers come in that order. The loop's alone."""
        self._entered: Counter[State] = Counter()
        self.on_commit: OnCommit | None = None
        """Called in the writer thread after each commit, with its seconds, its number of operations, and how
        many events came into each state.
        """

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, operation: Operation[T] | Joint[Any, T], *, vital: bool = False) -> asyncio.Future[T]:
        """Queue an operation. The future resolves after the commit that carries it.

        One that is ``vital`` gets the room of the ballast when the disk is full: what delivers the queue, and
        so makes room.
        """
        if self._closed:
            raise RuntimeError("the writer is closed")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._unanswered.append(time.monotonic())
        self._queue.put(_Job(operation, future, vital))
        return future

    def close(self, *, fold: bool = True) -> None:
        """Finish what is queued, fold the WAL into the database (``fold``), and close the connection."""
        if not self._closed:
            self._closed = True
            self._fold = fold
            self._queue.put(None)
            self._thread.join()

    def stats(self) -> WriterStats:
        """Counters and commit times (of the last 1,000 commits)."""
        times = sorted(self._commit_ms)
        return WriterStats(
            commits=self._commits,
            p50_ms=round(times[len(times) // 2], 3) if times else 0.0,
            p99_ms=round(times[min(len(times) - 1, len(times) * 99 // 100)], 3) if times else 0.0,
            mean_group=round(self._operations / self._commits, 2) if self._commits else 0.0,
            queued=self._queue.qsize(),
            busy_s=time.monotonic() - self._unanswered[0] if self._unanswered else 0.0,
        )

    def _run(self) -> None:
        _show_name()
        while True:
            jobs, last = self._take()
            if jobs:
                self._group(jobs)
                self._resolve(jobs)
            elif not last:
                self._checkpoint()
            if last:
                break
        if self._fold:
            self._checkpoint()
        self._connection.close()

    def _take(self) -> tuple[list[_Job[Any]], bool]:
        """All that is queued, after waiting for the first. Empty when it is time for a checkpoint."""
        try:
            first = self._queue.get(timeout=IDLE_CHECKPOINT_S if self._wal_dirty else None)
        except queue.Empty:
            return [], False
        if first is None:
            return [], True
        jobs = [first]
        while len(jobs) < GROUP_MAX:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                break
            if following is None:
                return jobs, True
            jobs.append(following)
        return jobs, False

    def _group(self, jobs: list[_Job[Any]]) -> None:
        started = time.perf_counter()
        if self._transaction(jobs, _together) and self._transaction(jobs, self._guarded):
            for job in jobs:
                self._alone(job)
        starved = [job for job in jobs if job.vital and isinstance(job.error, OutboxFull)]
        if starved and self._ballast.give_up():
            self._checkpoint()
            for job in starved:
                self._alone(job)
        elapsed = time.perf_counter() - started
        self._commits += 1
        self._operations += len(jobs)
        self._commit_ms.append(elapsed * 1000)
        self._wal_dirty = True
        entered, self._entered = self._entered, Counter()
        if self.on_commit is not None:
            self.on_commit(elapsed, len(jobs), entered)
        if self.wal_bytes() > self._wal_bound:
            self._checkpoint()

    def _alone(self, job: _Job[Any]) -> None:
        """Run a job in a transaction of its own, to its result or its error."""
        lost = self._transaction([job], _one_by_one)
        job.error = lost and self._judged(lost)

    def _transaction(self, jobs: list[_Job[Any]], way: _Way) -> Exception | None:
        """Run the jobs in one transaction. Returns by what it was lost, and nothing changed; else None."""
        sql = self._driver.execute
        group = Group()
        begin = partial(Tx, self._connection, self._driver, self._now_ms(), group)
        try:
            sql("BEGIN IMMEDIATE")
            way(jobs, begin)
            tally.flush(self._driver, group.ledger)
            sql("COMMIT")
        except Exception as error:
            if self._driver.in_transaction:
                sql("ROLLBACK")
            return error
        self._entered.update(group.ledger.entered)
        return None

    def _guarded(self, jobs: Sequence[_Job[Any]], begin: _Begin) -> None:
        """Run each job under a savepoint: when it fails, nothing of it is left, in the ledger neither."""
        sql = self._driver.execute
        for job in jobs:
            job.result = job.error = None
            tx = begin()
            sql("SAVEPOINT op")
            try:
                job.result = job.operation(tx)
            except Exception as error:
                if not self._driver.in_transaction:
                    raise
                sql("ROLLBACK TO op")
                job.error = self._judged(error)
            else:
                tx.group.ledger.add(tx.ledger)
            sql("RELEASE op")

    def _judged(self, error: BaseException) -> BaseException:
        self._on_error(error)
        return translate(error)

    def _resolve(self, jobs: list[_Job[Any]]) -> None:
        loop = jobs[0].future.get_loop()
        try:
            loop.call_soon_threadsafe(self._settle, jobs)
        except RuntimeError:
            log.warning("writer.loop_gone", operations=len(jobs))

    def _settle(self, jobs: list[_Job[Any]]) -> None:
        for job in jobs:
            self._unanswered.popleft()
            if job.future.cancelled():
                continue
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)

    def fold_soon(self) -> None:
        """Fold the WAL into the database after the present group, whatever its size. From an operation."""
        self._wal_bound = 0

    def wal_bytes(self) -> int:
        """The size of the WAL file (by stat: opening it would drop SQLite's locks)."""
        try:
            return self._wal.stat().st_size
        except OSError:
            return 0

    def _checkpoint(self) -> None:
        """Fold the WAL into the database and empty it, as far as open readers allow; never wait for them.

        While a reader holds it up, the bound moves on in steps, so that not every commit tries again.
        """
        try:
            row = self._connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
        except DBAPIError as error:
            log.warning("wal.checkpoint_failed", error=type(error.orig).__name__)
            self._wal_dirty = False
            return
        held_up = bool(row[0])
        self._wal_dirty = held_up
        self._wal_bound = self.wal_bytes() + WAL_STEP_BYTES if held_up else WAL_LIMIT_BYTES


def _together(jobs: Sequence[_Job[Any]], begin: _Begin) -> None:
    """Run the jobs in their order, as if none could fail; neighbours that have a common way take it."""
    for common, some in groupby(jobs, _common_way):
        neighbours = tuple(some)
        if common is None:
            _one_by_one(neighbours, begin)
            continue
        tx = begin()
        arguments = [job.operation.argument for job in neighbours if isinstance(job.operation, Joint)]
        for job, result in zip(neighbours, common(tx, arguments), strict=True):
            job.result = result
        tx.group.ledger.add(tx.ledger)


def _one_by_one(jobs: Sequence[_Job[Any]], begin: _Begin) -> None:
    for job in jobs:
        tx = begin()
        job.result = job.operation(tx)
        tx.group.ledger.add(tx.ledger)


def _common_way(job: _Job[Any]) -> Callable[[Tx, Sequence[Any]], Sequence[Any]] | None:
    return job.operation.together if isinstance(job.operation, Joint) else None


def _show_name() -> None:
    """Name the thread for the kernel too: so ``top -H``, a debugger and a test can tell which one it is."""
    with contextlib.suppress(OSError):
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(threading.current_thread().name)


def translate(error: BaseException) -> BaseException:
    """A full disk or a reached page bound becomes `OutboxFull`, a damaged file `Draining`: it will be opened
    anew. Anything else stays what it is.
    """
    if is_no_room(error):
        return OutboxFull("the disk or the database is full: nothing was stored", retry_after_s=FULL_RETRY_S)
    if is_damage(error):
        return Draining("the database is damaged and is opened anew", retry_after_s=FULL_RETRY_S)
    return error

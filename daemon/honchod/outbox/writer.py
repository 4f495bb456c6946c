"""The writer: one thread, one connection, everything that changes the database.

It takes all that is queued, runs it in one ``BEGIN IMMEDIATE`` transaction, commits once, then resolves the
waiting futures: group commit, with no artificial delay. Where all of a group is of one kind that can be done
at once, it is its own transaction: after each statement the driver needs the interpreter's lock back, which
a busy loop holds on to, so the fewer the sooner. What that leaves to be counted (`Standing.uncounted`) is
counted by the next transaction, before anything else in it looks.

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
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import structlog
from sqlalchemy.engine import Connection

from honchod.errors import Draining, OutboxFull
from honchod.outbox import database, lanes, tally
from honchod.outbox.ballast import Ballast
from honchod.outbox.sqlite_errors import is_damage, is_no_room
from honchod.outbox.standing import Standing
from honchod.outbox.states import State
from honchod.outbox.transaction import Joint, Operation, Tx
from honchod.outbox.wal import Wal

log = structlog.get_logger("honchod.outbox")

A = TypeVar("A")
T = TypeVar("T")
GROUP_MAX: Final = 512
UNCOUNTED_MAX: Final = 1024
"""With so many rows uncounted, they are counted before more is taken in: a start reads them one by one."""
IDLE_CHECKPOINT_S: Final = 1.0
FULL_RETRY_S: Final = 5.0


OnCommit = Callable[[float, int, Mapping[State, int]], None]


def _do(tx: Tx, operation: Operation[T]) -> T:
    return operation(tx)


def _do_each(tx: Tx, operations: Sequence[Operation[T]]) -> list[T]:
    return [operation(tx) for operation in operations]


_PLAIN: Final[Joint[Operation[Any], Any]] = Joint(_do, _do_each)


@dataclass(slots=True)
class _Job(Generic[T]):
    kind: Joint[Any, T]
    argument: Any
    future: asyncio.Future[T]
    vital: bool
    result: T | None = None
    error: BaseException | None = None


_kind_of: Final = attrgetter("kind")
_Way = Callable[[Sequence[_Job[Any]], Tx], None]
"""How the jobs of a transaction are run."""


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
        wal: Wal,
        *,
        now_ms: Callable[[], int],
        ballast: Ballast,
        on_error: Callable[[BaseException], None],
    ) -> None:
        """``on_error`` is called in the writer thread with whatever ends an operation."""
        self._connection = connection
        self._driver = database.driver_of(connection)
        self.wal = wal
        self._now_ms = now_ms
        self._ballast = ballast
        self._on_error = on_error
        self._standing = Standing(self._driver)
        self._queue: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="honchod-writer", daemon=True)
        self._closed = False
        self._fold = True
        self._commits = 0
        self._operations = 0
        self._commit_ms: deque[float] = deque(maxlen=1000)
        self._unanswered: deque[float] = deque()
        """When each operation was submitted, oldest first; answers come in that order. The loop's alone."""
        self._entered: defaultdict[State, int] = defaultdict(int)
        self.on_commit: OnCommit | None = None
        """Called in the writer thread after each commit, with its seconds, its number of operations, and how
        many events came into each state.
        """

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, operation: Operation[T], *, vital: bool = False) -> asyncio.Future[T]:
        """Queue an operation. The future resolves after the commit that carries it.

        One that is ``vital`` gets the room of the ballast when the disk is full: what delivers the queue, and
        so makes room.
        """
        return self._queued(_PLAIN, operation, vital=vital)

    def submit_joint(self, kind: Joint[A, T], argument: A) -> asyncio.Future[T]:
        """Queue an operation of a kind that neighbours are done together with, as `submit` does."""
        return self._queued(kind, argument, vital=False)

    def _queued(self, kind: Joint[A, T], argument: A, *, vital: bool) -> asyncio.Future[T]:
        if self._closed:
            raise RuntimeError("the writer is closed")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._unanswered.append(time.monotonic())
        self._queue.put(_Job(kind, argument, future, vital))
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
                self._rest()
            if last:
                break
        if self._fold:
            self._rest()
        self._connection.close()

    def _take(self) -> tuple[list[_Job[Any]], bool]:
        """All that is queued, after waiting for the first. Empty when it is time for a checkpoint."""
        try:
            first = self._queue.get(timeout=IDLE_CHECKPOINT_S if self.wal.dirty else None)
        except queue.Empty:
            return [], False
        if first is None:
            return [], True
        jobs = [first]
        # Nobody else takes anything out.
        for _ in range(min(self._queue.qsize(), GROUP_MAX - 1)):
            following = self._queue.get_nowait()
            if following is None:
                return jobs, True
            jobs.append(following)
        return jobs, False

    def _group(self, jobs: list[_Job[Any]]) -> None:
        started = time.perf_counter()
        if not self._at_once(jobs) and self._transaction(jobs, _together):
            self._apart(jobs)
        elapsed = time.perf_counter() - started
        self._commits += 1
        self._operations += len(jobs)
        self._commit_ms.append(elapsed * 1000)
        entered, self._entered = self._entered, defaultdict(int)
        if self.on_commit is not None:
            self.on_commit(elapsed, len(jobs), entered)
        self.wal.written()

    def _at_once(self, jobs: list[_Job[Any]]) -> bool:
        """Run jobs of one kind as one transaction of its own. False when that way is not open."""
        kind = jobs[0].kind
        if kind.at_once is None or not all(job.kind is kind for job in jobs):
            return False
        tx = self._tx()
        try:
            if self._standing.uncounted.rows >= UNCOUNTED_MAX:
                return False
            results = kind.at_once(tx, [job.argument for job in jobs])
        except Exception:
            self._undo()
            self._apart(jobs)
            return True
        if results is None:
            return False
        for job, result in zip(jobs, results, strict=True):
            job.result = result
        self._done(tx, counted=False)
        return True

    def _apart(self, jobs: list[_Job[Any]]) -> None:
        """Run jobs of which at least one fails: none of them fails another."""
        if self._transaction(jobs, self._guarded):
            for job in jobs:
                self._alone(job)
        starved = [job for job in jobs if job.vital and isinstance(job.error, OutboxFull)]
        if starved and self._ballast.give_up():
            self.wal.fold()
            for job in starved:
                self._alone(job)

    def _alone(self, job: _Job[Any]) -> None:
        """Run a job in a transaction of its own, to its result or its error."""
        lost = self._transaction([job], _one_by_one)
        job.error = lost and self._judged(lost)

    def _transaction(self, jobs: list[_Job[Any]], way: _Way) -> Exception | None:
        """Run the jobs in one transaction. Returns by what it was lost, and nothing changed; else None."""
        sql = self._driver.execute
        tx = self._tx()
        try:
            sql("BEGIN IMMEDIATE")
            uncounted = self._standing.uncounted
            lanes.grow_all(tx, uncounted.grown)
            way(jobs, tx)
            changes = tx.ledger
            if uncounted.rows:
                changes = uncounted.copy()
                changes.add(tx.ledger)
            tally.flush(self._driver, changes)
            sql("COMMIT")
        except Exception as error:
            self._undo()
            return error
        self._done(tx, counted=True)
        return None

    def _tx(self) -> Tx:
        return Tx(self._connection, self._driver, self._now_ms(), self._standing)

    def _undo(self) -> None:
        self._standing.forget()
        if self._driver.in_transaction:
            self._driver.execute("ROLLBACK")

    def _done(self, tx: Tx, *, counted: bool) -> None:
        self._standing.committed(tx.ledger, counted=counted)
        for state, rows in tx.ledger.entered.items():
            self._entered[state] += rows

    def _guarded(self, jobs: Sequence[_Job[Any]], tx: Tx) -> None:
        """Run each job under a savepoint: when it fails, nothing of it is left, in the ledger neither."""
        sql = self._driver.execute
        for job in jobs:
            job.result = job.error = None
            before = tx.ledger.copy()
            sql("SAVEPOINT op")
            try:
                job.result = job.kind.alone(tx, job.argument)
            except Exception as error:
                if not self._driver.in_transaction:
                    raise
                sql("ROLLBACK TO op")
                tx.ledger = before
                job.error = self._judged(error)
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

    def _rest(self) -> None:
        """There is nothing else to do: count what is not counted, and empty the WAL."""
        lost = self._transaction([], _together) if self._standing.owes else None
        if lost is not None:
            # It stays uncounted, and is counted with what is done next.
            self._judged(lost)
        self.wal.fold()


def _together(jobs: Sequence[_Job[Any]], tx: Tx) -> None:
    """Run the jobs in their order, as if none could fail; neighbours of one kind together."""
    for kind, some in groupby(jobs, _kind_of):
        neighbours = list(some)
        results = kind.together(tx, [job.argument for job in neighbours])
        for job, result in zip(neighbours, results, strict=True):
            job.result = result


def _one_by_one(jobs: Sequence[_Job[Any]], tx: Tx) -> None:
    for job in jobs:
        job.result = job.kind.alone(tx, job.argument)


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

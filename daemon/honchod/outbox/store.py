"""The outbox as the rest of the house sees it: one object, awaitable, no SQL.

What changes the database goes through the `Writer` and is on disk when it returns. What only looks runs on
read-only connections in threads of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from honchod.clock import Clock
from honchod.errors import NotFound, OutboxFull
from honchod.identity.names import SessionName
from honchod.outbox import (
    backup,
    circuits,
    conclusions,
    database,
    held,
    intake,
    kept,
    lanes,
    leases,
    ledger,
    letters,
    notices,
    recovery,
    retention,
    search,
    sessions,
    views,
)
from honchod.outbox.backup import Copied, Tell
from honchod.outbox.ballast import Ballast
from honchod.outbox.circuits import CircuitRow
from honchod.outbox.conclusions import ConclusionRow, Erased
from honchod.outbox.database import StateDir, Synchronous
from honchod.outbox.lanes import LaneIds
from honchod.outbox.ledger import Once
from honchod.outbox.letters import AttemptRow, Choice, LetterRow
from honchod.outbox.notices import Salvaged
from honchod.outbox.opening import open_database
from honchod.outbox.recall_store import RecallStore
from honchod.outbox.recovery import USUAL_WAITS, Recovered, SuspectWaits
from honchod.outbox.search import Sought, WaitingRow
from honchod.outbox.transaction import Joint, Operation, Tx
from honchod.outbox.values import Append, Appended, Bounds, LaneKey, Lease, LeaseTerms, NothingDue, Settlement
from honchod.outbox.views import Overview
from honchod.outbox.wal import WAL_LIMIT_BYTES, Wal
from honchod.outbox.watch import DamageWatch
from honchod.outbox.writer import FULL_RETRY_S, OnCommit, Writer, WriterStats, translate

log = structlog.get_logger("honchod.outbox")

T = TypeVar("T")
READERS = 2
RESERVE_BYTES = 32 << 20
"""Beyond ``max_bytes``, for settling and pruning: intake never uses it."""


class Outbox:
    """The queue of one state directory, which it holds exclusively from `open` to `close`."""

    def __init__(
        self, directory: StateDir, writer: Writer, bounds: Bounds, ballast: Ballast, watch: DamageWatch
    ) -> None:
        self.bounds = bounds
        self.watch = watch
        self._ballast = ballast
        self._longest_wal_bytes = max(2 * WAL_LIMIT_BYTES, bounds.max_bytes // 4)
        self._directory = directory
        self._writer = writer
        self._lane_ids = LaneIds()
        self._appends = Joint(self._append, self._append_together, self._append_at_once)
        self._local = threading.local()
        self._connections: list[Connection] = []
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="honchod-reader")
        self.recall = RecallStore(self._write, self._read)

    @classmethod
    def open(
        cls,
        state_dir: Path,
        *,
        bounds: Bounds,
        clock: Clock,
        synchronous: Synchronous = "full",
        path: Path | None = None,
        damaged: bool = False,
    ) -> Outbox:
        """Lock the directory, open the database, bring it up to date, start the writer.

        ``path`` is the database's own, where it does not stand in the state directory under its usual name.
        A database that is found damaged, or is said to be (``damaged``), is replaced by what can be read of
        it; the damaged one stays beside it.

        Raises a `StartRefused`.
        """
        directory = StateDir(state_dir, path)
        directory.hold()
        file = directory.database
        ballast = Ballast(file, max_bytes=bounds.max_bytes)
        try:
            opened = open_database(
                file, ballast, synchronous=synchronous, now_ms=clock.now_ms(), damaged=damaged
            )
        except BaseException:
            directory.release()
            raise
        _bound(opened.connection, bounds)
        ballast.hold()
        wal = Wal(opened.connection, file.with_name(f"{file.name}-wal"))
        watch = DamageWatch(file, checked=opened.checked)
        writer = Writer(opened.connection, wal, now_ms=clock.now_ms, ballast=ballast, on_error=watch.met)
        writer.start()
        return cls(directory, writer, bounds, ballast, watch)

    async def close(self) -> None:
        """Finish what is queued, checkpoint, close the file and let go of the directory."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._readers.shutdown)
        if self.watch.damaged:
            # While a reader is open, SQLite does not write to the damaged file to tidy up.
            with contextlib.suppress(DBAPIError):
                self._connections.append(database.open_reader(self._directory.database))
            await loop.run_in_executor(None, partial(self._writer.close, fold=False))
        for connection in self._connections:
            connection.close()
        await loop.run_in_executor(None, self._writer.close)
        self._directory.release()

    async def append(self, request: Append) -> tuple[Appended, ...]:
        """Store a request, all or nothing. On disk when it returns.

        Raises `IdConflict`, `QuotaUsedUp`, `OutboxFull`.
        """
        if request.due_in_ms != 0:
            return await self._take_in(lambda tx: intake.append(tx, request, self.bounds))
        return await self.begin_append(request)

    def begin_append(self, request: Append) -> asyncio.Future[tuple[Appended, ...]]:
        """As `append`, for a request that is due now: what it returns is there once it is on disk."""
        return self._writer.submit_joint(self._appends, request)

    async def append_once(self, once: Once) -> Appended:
        """Store an event unless the ledger knows it. On disk when it returns. Raises as `append` does."""
        return await self._take_in(lambda tx: ledger.append_once(tx, once, self.bounds))

    async def conclude(self, request: Append) -> Appended:
        """Store a conclusion, unless the same is there. On disk when it returns. Raises as `append` does."""
        return await self._take_in(lambda tx: conclusions.append(tx, request, self.bounds))

    async def conclusions_named(
        self, conclusion_id: str, hosts: Sequence[str], workspace: str
    ) -> list[ConclusionRow]:
        """The conclusions with this id, be it ours or Honcho's."""
        return await self._read(lambda reader: conclusions.named(reader, conclusion_id, hosts, workspace))

    async def waiting_conclusions(
        self, peer: str, hosts: Sequence[str], workspace: str, limit: int
    ) -> list[WaitingRow]:
        """The conclusions about a peer that wait, the newest first."""
        return await self._read(lambda reader: conclusions.latest(reader, peer, hosts, workspace, limit))

    async def erase_conclusions(self, ids: Sequence[int]) -> Erased:
        """Drop conclusions, and every trace of their words (see `conclusions.erase`)."""
        return await self._write(lambda tx: conclusions.erase(tx, ids))

    async def search(self, sought: Sought) -> list[WaitingRow]:
        """The rows that wait and share words with a query, the best first."""
        # Where there is no room for more, what is in the index is searched.
        with contextlib.suppress(OutboxFull):
            await self._index()
        return await self._read(lambda reader: search.found(reader, sought))

    async def pending(self, key: LaneKey) -> int:
        """How many events of a session wait."""
        return await self._read(lambda reader: lanes.pending(reader, key))

    async def lease(
        self, hosts: Sequence[str], terms: LeaseTerms, *, suspects: bool = False
    ) -> Lease | NothingDue:
        """Take the lane of these hosts that has been due longest, and its next batch."""
        return await self._write(lambda tx: leases.lease(tx, hosts, terms, suspects=suspects), vital=True)

    async def renew(self, held: Lease, lease_ms: int) -> int:
        """Hold a lease for longer. Raises `LeaseLost`."""
        return await self._write(lambda tx: leases.renew(tx, held, lease_ms), vital=True)

    async def settle(self, held: Lease, what: Settlement) -> int:
        """Write an outcome back, and let go of the lane. Returns what is left in it. Raises `LeaseLost`."""
        keep = self.bounds.content_after_delivery_ms > 0
        return await self._write(lambda tx: leases.settle(tx, held, what, keep_content=keep), vital=True)

    async def wake(self, hosts: tuple[str, ...] | None = None) -> int:
        """Make waiting lanes due now; those of some hosts, when given."""
        return await self._write(lambda tx: lanes.wake(tx, hosts))

    async def wake_lane(self, key: LaneKey) -> None:
        """Make one lane due now."""
        await self._write(lambda tx: lanes.wake_one(tx, key))

    async def generations(self) -> dict[SessionName, int]:
        """The generation of each session that was ever reset."""
        return await self._read(sessions.generations)

    async def reset_session(self, name: SessionName) -> int:
        """Start the session's next generation; what waits in the old one is due now. Returns its number."""
        return await self._write(lambda tx: sessions.reset(tx, name))

    async def end_session(self, key: LaneKey) -> int:
        """Make what waits in a session's lane due now. Returns how many events that are."""
        return await self._write(lambda tx: sessions.end(tx, key))

    async def end_turn(self, key: LaneKey, every_turns: int | None) -> None:
        """Count a turn of which nothing was stored (see `held.turn_ended`)."""
        await self._write(lambda tx: held.turn_ended_in(tx, key, every_turns))

    async def recover(
        self,
        *,
        settle_delay_ms: int,
        died: bool,
        alive: Collection[str] = (),
        waits: SuspectWaits = USUAL_WAITS,
    ) -> Recovered:
        """Take back leases that nobody holds any more (see `recovery.recover`)."""
        return await self._write(
            lambda tx: recovery.recover(
                tx, settle_delay_ms=settle_delay_ms, died=died, alive=alive, waits=waits
            ),
            vital=True,
        )

    async def salt(self) -> bytes:
        """The random bytes of this database."""
        return await self._write(kept.salt)

    async def save_circuit(self, row: CircuitRow) -> None:
        """Keep a circuit."""
        await self._write(lambda tx: circuits.save(tx, row), vital=True)

    async def load_circuits(self) -> list[CircuitRow]:
        """All circuits that were kept."""
        return await self._read(circuits.load)

    async def retry_letters(self, choice: Choice, *, limit: int) -> tuple[int, frozenset[str]]:
        """Put dead letters back into the queue. Returns how many, and of which hosts."""
        return await self._write(lambda tx: letters.retry(tx, choice, limit=limit))

    async def discard_letters(self, ids: Sequence[int]) -> int:
        """Give dead letters up."""
        return await self._write(lambda tx: letters.discard(tx, ids))

    async def letters(self, choice: Choice, *, after: int, limit: int) -> tuple[list[LetterRow], int]:
        """A page of dead letters, and how many there are of this choice."""
        return await self._read(
            lambda reader: (
                letters.listed(reader, choice, after=after, limit=limit),
                letters.count(reader, choice),
            )
        )

    async def letter(self, letter_id: int) -> tuple[LetterRow, list[AttemptRow]]:
        """One dead letter, with content and attempts. Raises `NotFound`."""
        found = await self._read(partial(letters.one, letter_id=letter_id))
        if found is None:
            raise NotFound(f"there is no dead letter {letter_id}")
        return found

    async def notices(self) -> list[Salvaged]:
        """What nobody has acknowledged yet."""
        return await self._read(notices.listed)

    async def acknowledge(self) -> int:
        """Take all notices as read. Returns how many there were."""
        return await self._write(notices.acknowledge)

    async def backup(self, target: Path, tell: Tell) -> Copied:
        """Copy the database, as it is at one instant, to ``target`` (see `backup.take`), in a thread of its
        own; writing goes on meanwhile. Raises `BackupRefused`.
        """
        return await asyncio.to_thread(self._backup, target, tell)

    async def overview(self, *, oldest: bool = False) -> Overview:
        """Counts, lanes (see `views.overview`) and sizes at one instant."""
        return await self._read(partial(views.overview, oldest=oldest))

    async def maintain(self, *, max_age_ms: int, longest_wait_ms: int, settle_delay_ms: int) -> None:
        """One round of housekeeping, in steps that keep the writer free for others."""
        await self._write(
            lambda tx: retention.clamp(tx, longest_wait_ms=longest_wait_ms, settle_delay_ms=settle_delay_ms),
            vital=True,
        )
        steps: tuple[Operation[int], ...] = (
            lambda tx: retention.expire(tx, max_age_ms),
            lambda tx: retention.drop_content(tx, self.bounds),
            lambda tx: retention.forget_ids(tx, self.bounds),
        )
        dropped = 0
        for step in steps:
            rows = retention.STEP_ROWS
            while rows == retention.STEP_ROWS:
                rows = await self._write(step, vital=True)
                dropped += rows
        if dropped or self.bounds.content_after_delivery_ms == 0:
            while await self._write(search.tidy, vital=True):
                pass
        await self._index()

    async def _index(self) -> None:
        while await self._write(search.advance):
            pass

    def writer_stats(self) -> WriterStats:
        """Commits, their times, and whether the writer is at work."""
        return self._writer.stats()

    def wal_bytes(self) -> int:
        """The size of the WAL file."""
        return self._writer.wal.size()

    def on_commit(self, call: OnCommit) -> None:
        """Tell each commit to ``call``, in the writer thread: seconds, operations, events by new state."""
        self._writer.on_commit = call

    @property
    def takes(self) -> bool:
        """Whether there is room on the disk to take something in."""
        return self._ballast.held

    async def _take_in(self, operation: Operation[T]) -> T:
        """Write what is new, unless the room that is left belongs to what is queued already."""

        def checked(tx: Tx) -> T:
            self._check_room()
            return operation(tx)

        return await self._write(checked)

    def _append(self, tx: Tx, request: Append) -> tuple[Appended, ...]:
        self._check_room()
        return intake.append(tx, request, self.bounds)

    def _append_together(self, tx: Tx, requests: Sequence[Append]) -> list[tuple[Appended, ...]]:
        self._check_room()
        return intake.append_together(tx, requests, self.bounds, self._lane_ids)

    def _append_at_once(self, tx: Tx, requests: Sequence[Append]) -> list[tuple[Appended, ...]] | None:
        self._check_room()
        return intake.append_at_once(tx, requests, self.bounds, self._lane_ids)

    def _check_room(self) -> None:
        if not self._ballast.hold():
            raise OutboxFull("the disk is full: nothing was stored", retry_after_s=FULL_RETRY_S)
        if self._writer.wal.left_bytes > self._longest_wal_bytes:
            self._writer.wal.fold_soon()
            held_up = "a long read of the database holds its log up: nothing was stored"
            raise OutboxFull(held_up, retry_after_s=FULL_RETRY_S)

    async def _write(self, operation: Operation[T], *, vital: bool = False) -> T:
        return await self._writer.submit(operation, vital=vital)

    async def _read(self, look: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._look, look)

    def _backup(self, target: Path, tell: Tell) -> Copied:
        source = database.open_reader(self._directory.database)
        try:
            return backup.take(source, target, tell)
        finally:
            source.close()

    def _look(self, look: Callable[[Connection], T]) -> T:
        reader: Connection | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = database.open_reader(self._directory.database)
            self._connections.append(reader)
        try:
            return look(reader)
        except DBAPIError as error:
            self.watch.met(error)
            raise translate(error) from None


def _bound(connection: Connection, bounds: Bounds) -> None:
    """SQLite's own bound, above ours by a reserve: intake stops first, settling goes on."""
    pages = (bounds.max_bytes + RESERVE_BYTES) // database.PAGE_BYTES
    connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

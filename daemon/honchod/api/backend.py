"""What the front door asks of the daemon behind it."""

from __future__ import annotations

from typing import Protocol

from honchod.begun import Begun
from honchod.capture.requests import WriteRequest, WriteResult
from honchod.capture.seeds import Seeds
from honchod.capture.sessions import SessionDesk
from honchod.memory.toolbox import Toolbox
from honchod.ops.views import (
    Acknowledged,
    BackupMade,
    Checks,
    Discarded,
    Drained,
    Health,
    Info,
    LetterDetail,
    LetterPage,
    LetterSelection,
    Reloaded,
    Retried,
    Status,
    UiAccess,
    WorkerState,
)
from honchod.recall.recaller import Recaller


class Backend(Protocol):
    """The daemon, as the composition root puts it together.

    Each method raises a Problem for what the caller has to know; anything else is answered as an internal
    error without its text. Callers are checked before a method is called.
    """

    @property
    def sessions(self) -> SessionDesk:
        """What an agent asks about its sessions."""
        ...

    @property
    def seeds(self) -> Seeds:
        """Takes persona and memory files in."""
        ...

    async def write(self, request: WriteRequest, *, uid: int, operator: bool) -> WriteResult:
        """Take messages in, all or nothing; returns after the fsync."""
        ...

    def begin_write(self, request: WriteRequest, *, uid: int, operator: bool) -> Begun[WriteResult] | None:
        """As `write`, for a request that waits for its commit alone; None for any other."""
        ...

    @property
    def recaller(self) -> Recaller:
        """Answers recalls, and fetches ahead."""
        ...

    @property
    def toolbox(self) -> Toolbox:
        """The memory tools."""
        ...

    def health(self) -> Health:
        """Whether the loop, the writer and the scheduler make progress."""
        ...

    def ready(self) -> bool:
        """Whether the database is open and migrated."""
        ...

    def info(self) -> Info:
        """Versions, limits, socket and features."""
        ...

    async def status(self, *, oldest: bool = False) -> Status:
        """The whole daemon at a glance; ``oldest``: with the lanes that have waited longest."""
        ...

    async def letters(
        self, *, session: str | None, code: str | None, limit: int, cursor: str | None
    ) -> LetterPage:
        """A page of dead letters; raises BadRequest for a cursor that it did not make."""
        ...

    async def letter(self, letter_id: str, *, content: bool) -> LetterDetail:
        """One dead letter with its attempts; raises NotFound."""
        ...

    async def retry_letters(self, selection: LetterSelection) -> Retried:
        """Put dead letters back into the queue."""
        ...

    async def discard_letters(self, ids: list[str]) -> Discarded:
        """Discard dead letters for good."""
        ...

    async def acknowledge(self) -> Acknowledged:
        """Take the notices of the status as read."""
        ...

    async def wake(self) -> WorkerState:
        """Make everything that waits due now."""
        ...

    async def pause(self) -> WorkerState:
        """Stop delivering until resumed; intake goes on."""
        ...

    async def resume(self) -> WorkerState:
        """Deliver again."""
        ...

    async def drain(self, timeout_s: float) -> Drained:
        """Wait for the queue to become empty, at most that long."""
        ...

    async def checks(self) -> Checks:
        """Probe what the daemon depends on."""
        ...

    async def backup(self, path: str) -> BackupMade:
        """Copy the queue to a file that is not there yet, and verify the copy."""
        ...

    async def reload(self) -> Reloaded:
        """Validate the configuration, then swap it; raises ConfigError and changes nothing when it is bad."""
        ...

    def ui(self, *, show_token: bool) -> UiAccess:
        """Where the web page is, and its token where it may be shown; raises NotFound without a page."""
        ...

    async def metrics(self) -> bytes:
        """The metrics in Prometheus's text format."""
        ...

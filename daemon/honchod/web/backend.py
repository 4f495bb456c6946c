"""What the page asks of the daemon behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from honchod.identity.host import Host
from honchod.ops.views import (
    Acknowledged,
    Checks,
    Discarded,
    Drained,
    Health,
    LetterDetail,
    LetterPage,
    LetterSelection,
    Reloaded,
    Retried,
    Status,
    WorkerState,
)
from honchod.recall.recaller import Recaller


class Backend(Protocol):
    """The daemon, as the page uses it. Methods raise a Problem for what the operator has to know."""

    @property
    def hosts(self) -> Mapping[str, Host]:
        """The configured hosts by name."""
        ...

    @property
    def recaller(self) -> Recaller:
        """Answers recalls, and fetches ahead."""
        ...

    def health(self) -> Health:
        """Whether the loop, the writer and the scheduler make progress."""
        ...

    async def metrics(self) -> bytes:
        """The metrics in Prometheus's text format."""
        ...

    async def status(self) -> Status:
        """The whole daemon at a glance."""
        ...

    async def letters(
        self, *, session: str | None, code: str | None, limit: int, cursor: str | None
    ) -> LetterPage:
        """A page of dead letters, oldest first; raises BadRequest for a cursor that it did not make."""
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
        """Take the notices as read."""
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

    async def reload(self) -> Reloaded:
        """Validate the configuration, then swap it; raises ConfigError and changes nothing when it is bad."""
        ...

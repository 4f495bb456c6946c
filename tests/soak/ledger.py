"""What the writers were told, in the order in which they were told it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from soak.plan import Request


class Told(StrEnum):
    """What the daemon said of a request."""

    ACKED = "acked"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """No answer came, and the writer gave up."""


@dataclass(frozen=True)
class Entry:
    """One message. ``parts`` is how many pieces the daemon said it would send (0 when it said nothing)."""

    session: str
    id: str
    told: Told
    parts: int


class Ledger:
    """Thread-safe. One session has one writer, so the order within it is that of the calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._ack_ms: list[float] = []
        self._acked = 0

    def note(
        self, request: Request, told: Told, parts: tuple[int, ...] = (), ms: float | None = None
    ) -> None:
        """The daemon's word on a request; ``ms`` is how long an answer took that came at the first try."""
        counts = parts or (0,) * len(request.lines)
        with self._lock:
            self._entries += [
                Entry(request.session, line.id, told, count)
                for line, count in zip(request.lines, counts, strict=True)
            ]
            if told is Told.ACKED:
                self._acked += len(request.lines)
                if ms is not None:
                    self._ack_ms.append(ms)

    @property
    def acked(self) -> int:
        """Messages that were acknowledged so far."""
        return self._acked

    def entries(self) -> Iterator[Entry]:
        """Everything so far."""
        with self._lock:
            return iter(tuple(self._entries))

    def ack_ms(self, share: float) -> float:
        """The time of an acknowledgement that this share of them did not exceed."""
        with self._lock:
            times = sorted(self._ack_ms)
        return round(times[min(len(times) - 1, int(len(times) * share))], 2) if times else 0.0

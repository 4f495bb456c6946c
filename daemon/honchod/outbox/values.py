"""What goes into the outbox and what comes out of it: values, no SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import msgspec

FILE_NAME: Final = "honchod_file"
"""The metadata key under which an event of kind ``file`` has the name of its file."""

OBSERVER: Final = "honchod_observer"
"""The metadata key under which an event of kind ``conclusion`` has the peer that concluded it."""


class Kind(StrEnum):
    """What an event carries."""

    MESSAGE = "message"
    CONCLUSION = "conclusion"
    IDENTITY = "identity"
    FILE = "file"


class LaneKey(msgspec.Struct, frozen=True):
    """One session of one workspace of one host. Fixed when a message is captured."""

    host: str
    workspace: str
    session: str


class NewEvent(msgspec.Struct, frozen=True):
    """A message as captured: cleaned, redacted and cut into ``pieces``, in order.

    ``message_id`` is unique in its lane; ``fresh_id`` says that the daemon made it just now, so that it
    cannot be a duplicate. ``digest`` is that of the whole content.
    """

    message_id: str
    pieces: tuple[str, ...]
    peer: str
    role: str
    author: str
    created_at_ms: int
    digest: bytes
    metadata: str | None = None
    kind: Kind = Kind.MESSAGE
    fresh_id: bool = False


class Append(msgspec.Struct, frozen=True):
    """One request: all or nothing.

    ``due_in_ms`` is when its lane becomes due; None: its events are held until every nth turn has ended
    (``every_turns``; None: until the session has). ``turn_ends`` says that this request ends one.
    """

    lane: LaneKey
    events: tuple[NewEvent, ...]
    uid: int
    scope: str | None = None
    limited: bool = True
    """False for operators: they have no share of the queue."""
    due_in_ms: int | None = 0
    every_turns: int | None = None
    turn_ends: bool = False


class Appended(msgspec.Struct, frozen=True):
    """What became of one event: ``duplicate`` means the same id with the same content was there."""

    message_id: str
    parts: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class LeasedEvent:
    """One event in flight."""

    id: int
    honchod_id: str
    message_id: str
    part: int
    parts: int
    kind: Kind
    peer: str
    role: str
    content: str
    metadata: Mapping[str, Any]
    created_at_ms: int
    attempts: int
    size: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is already set up remotely for a lane: at which destination, with which peers (in the order in
    which they joined), and whether its scope was taken care of.
    """

    destination: str
    peers: tuple[str, ...] = ()
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Bisect:
    """A bad event is among those up to ``last``: send at most ``limit`` at a time."""

    last: int
    limit: int


@dataclass(frozen=True, slots=True)
class Lease:
    """A lane in flight, with the batch that was taken. Valid until ``until_ms`` (wall clock)."""

    id: str
    lane_id: int
    lane: LaneKey
    scope: str | None
    events: tuple[LeasedEvent, ...]
    failures: int
    prepared: Prepared | None
    uncertain: bool
    """The events were part of an attempt that may have landed: look before sending."""
    charge: bool
    bisect: Bisect | None
    suspect: bool
    look_at_ms: int | None
    leased_at_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class NothingDue:
    """No lane could be leased. ``next_ms`` is when the next one is due (wall clock; None: none waits)."""

    next_ms: int | None


@dataclass(frozen=True, slots=True)
class Delivered:
    """Honcho has this event, under this id of its own (None where the server did not tell)."""

    event_id: int
    remote_id: str | None


@dataclass(frozen=True, slots=True)
class Died:
    """An event that will never be accepted: a dead letter with its code."""

    event_id: int
    code: str


@dataclass(frozen=True, slots=True)
class AttemptMade:
    """A failed attempt of these events, for their history."""

    event_ids: tuple[int, ...]
    outcome: str
    status: int | None
    ms: int


@dataclass(frozen=True, slots=True)
class Uncertain:
    """An attempt of unknown outcome: what it covered and when it can be looked up."""

    first: int
    last: int
    look_at_ms: int
    charge: bool


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a worker writes back under its lease, in one transaction."""

    due_in_ms: int
    delivered: tuple[Delivered, ...] = ()
    died: tuple[Died, ...] = ()
    attempts: tuple[AttemptMade, ...] = ()
    charged: tuple[int, ...] = ()
    failures: int = 0
    error: str | None = None
    prepared: Prepared | None = None
    uncertain: Uncertain | None = None
    """A new unknown attempt."""
    resolved: bool = True
    """The events of this lease are certain (delivered, or known not to be there), save ``uncertain``."""
    bisect: Bisect | None = None
    order_gap: bool = False
    outcome: bool = True
    """False when the lease is handed back without one: it clears no suspicion and counts no failure."""

    @classmethod
    def untouched(cls, lease: Lease) -> Settlement:
        """A lease handed back as it was taken."""
        return cls(
            0, prepared=lease.prepared, resolved=not lease.uncertain, bisect=lease.bisect, outcome=False
        )


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows by state, and bytes of content held. ``delivered_ever`` counts since the database was made."""

    queued: int = 0
    delivered: int = 0
    dead: int = 0
    discarded: int = 0
    bytes: int = 0
    delivered_ever: int = 0

    @property
    def rows(self) -> int:
        """All rows that are held."""
        return self.queued + self.delivered + self.dead + self.discarded


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much the outbox may hold, and for how long (see the ``[outbox]`` section)."""

    max_rows: int = 100_000
    max_bytes: int = 1 << 30
    quota_share: float = 0.5
    dedupe_window_ms: int = 7 * 86_400_000
    content_after_delivery_ms: int = 86_400_000


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """How a batch is taken: at most so many events and bytes, for so long; nothing older than ``max_age``."""

    batch_max: int = 100
    batch_bytes: int = 1 << 20
    lease_ms: int = 30_000
    max_age_ms: int = 14 * 86_400_000

"""What an operator sees, as wire types: never content, keys, key digests or the database path."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from honchod.drop.contents import DropBox

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=512)]
"""An id or key in a request."""

LetterIdList = Annotated[list[Id], msgspec.Meta(min_length=1, max_length=1000)]

DestinationState = Literal["ok", "unreachable", "throttled", "refused", "stalled"]


class Queue(msgspec.Struct, frozen=True):
    """The outbox at a glance. ``bytes`` counts the content of rows that are still held."""

    pending: int
    oldest_age_s: float | None
    in_flight: int
    delivered: int
    dead: int
    discarded: int
    bytes: int


class LaneView(msgspec.Struct, frozen=True):
    """One session's queue. ``due_in_s`` is None while nothing is scheduled (leased or removed host)."""

    session: str
    host: str
    workspace: str
    pending: int
    due_in_s: float | None
    failures: int
    last_error: str | None
    in_flight: bool = False
    uncertain: bool = False
    suspect: bool = False
    order_gap: bool = False
    configured: bool = True
    oldest_age_s: float | None = None


class DestinationView(msgspec.Struct, frozen=True):
    """One host's way to Honcho. ``key_source`` says where the key came from, never what it is."""

    host: str
    url: str
    workspace: str
    key_source: str
    state: DestinationState
    circuit: Literal["closed", "open", "half_open"]
    retry_in_s: float | None
    in_flight: int
    delivered: int
    derived: int | None
    last_error: str | None
    last_error_at: str | None
    last_delivery_at: str | None


class WriterView(msgspec.Struct, frozen=True):
    """The writer thread: commits since the start and how long they take."""

    commits: int
    p50_ms: float
    p99_ms: float
    mean_group: float
    queued: int


class CacheView(msgspec.Struct, frozen=True):
    """The recall cache."""

    entries: int
    hits: int
    misses: int
    stale: int


class ErrorSeen(msgspec.Struct, frozen=True):
    """A sanitised error code and when it was last seen (RFC 3339, UTC)."""

    code: str
    host: str
    at: str


class DeliveryView(msgspec.Struct, frozen=True):
    """The delivery worker: ``paused`` by an operator, lanes in flight, requests made since the start."""

    paused: bool
    in_flight: int
    requests: int
    reconciled: int


class BackupProgress(msgspec.Struct, frozen=True):
    """A backup that is under way: pages of the database that are copied, of how many."""

    done: int
    total: int


class Status(msgspec.Struct, frozen=True):
    """``GET /v1/status``."""

    version: str
    uptime_s: float
    queue: Queue
    lanes: list[LaneView]
    destinations: list[DestinationView]
    cache: CacheView
    writer: WriterView
    delivery: DeliveryView
    errors: list[ErrorSeen]
    notices: list[str]
    database_bytes: int
    wal_bytes: int
    backup: BackupProgress | None = None
    """The one that is under way."""
    unacknowledged: int = 0
    """How many of the notices stand there until somebody acknowledges them."""
    drop: DropBox = DropBox()


class Health(msgspec.Struct, frozen=True):
    """``GET /v1/health``: ``stuck`` names what makes no progress; destinations that are away are named
    too and do not make the daemon unhealthy.
    """

    status: Literal["ok", "stuck"]
    stuck: list[str]
    destinations: dict[str, DestinationState]


class Ready(msgspec.Struct, frozen=True):
    """``GET /v1/ready``."""

    ready: bool


class LimitsView(msgspec.Struct, frozen=True):
    """The limits in force."""

    body_bytes: int
    messages_per_request: int
    id_chars: int
    connections: int
    arrival_s: float
    idle_s: float


class Info(msgspec.Struct, frozen=True):
    """``GET /v1/info``."""

    version: str
    api: str
    python: str
    sqlite: str
    sdk: str
    socket: str
    pid: int
    limits: LimitsView
    features: list[str]


class Attempt(msgspec.Struct, frozen=True):
    """One failed attempt: when (RFC 3339), what came of it, the server's status, how long it took."""

    at: str
    outcome: str
    status: int | None
    ms: int


class Letter(msgspec.Struct, frozen=True):
    """A dead letter, without content."""

    id: str
    session: str
    host: str
    workspace: str
    kind: str
    peer: str
    code: str
    attempts: int
    created_at: str
    died_at: str
    size: int
    message_id: str
    part: int


class LetterDetail(Letter, frozen=True, omit_defaults=True):
    """One dead letter with its attempts; ``content`` and ``metadata`` only when asked for."""

    history: list[Attempt]
    content: str | None = None
    metadata: dict[str, Any] | None = None


class LetterPage(msgspec.Struct, frozen=True):
    """A page of dead letters, oldest first; ``cursor`` is None on the last page."""

    items: list[Letter]
    cursor: str | None
    total: int


class LetterSelection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which dead letters to retry: by ``ids``, or by session and code.

    At most 100 a call unless ``all`` is true.
    """

    ids: LetterIdList | None = None
    session: Id | None = None
    code: Id | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None = None
    all: bool = False


class LetterIds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Dead letters by id."""

    ids: LetterIdList


class Retried(msgspec.Struct, frozen=True):
    """How many letters went back into the queue, and how many that matched are left."""

    retried: int
    remaining: int


class Discarded(msgspec.Struct, frozen=True):
    """How many letters were discarded."""

    discarded: int


class BackupRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``POST /v1/backup``: the absolute path of a file that is not there yet."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class BackupMade(msgspec.Struct, frozen=True):
    """A verified copy of the queue, as it was at ``taken_at``. ``events`` counts all that is held."""

    path: str
    bytes: int
    events: int
    pending: int
    dead: int
    taken_at: str
    ms: int


class DrainRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long to wait for the queue to become empty."""

    timeout_s: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 30.0


class Drained(msgspec.Struct, frozen=True):
    """Whether the queue became empty in time, and how many events are left."""

    drained: bool
    remaining: int


class WorkerState(msgspec.Struct, frozen=True):
    """The worker after a wake, pause or resume."""

    paused: bool
    pending: int


class Acknowledged(msgspec.Struct, frozen=True):
    """``POST /v1/notices/ack``: how many notices were taken as read."""

    acknowledged: int


class Check(msgspec.Struct, frozen=True):
    """One probe: ``code`` is "ok" or what is wrong; ``detail`` says how to mend it."""

    name: str
    ok: bool
    code: str
    latency_ms: float | None
    detail: str
    host: str | None = None


class Checks(msgspec.Struct, frozen=True):
    """``POST /v1/checks``."""

    ok: bool
    checks: list[Check]


class Reloaded(msgspec.Struct, frozen=True):
    """What a reload changed: hosts after it, settings that need a restart."""

    hosts: list[str]
    restart_needed: list[str]


class UiRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``POST /v1/ui``. ``show_token``: show the token of the page although it was shown before."""

    show_token: bool = False


class UiAccess(msgspec.Struct, frozen=True):
    """Where the web page is. ``token`` is there the first time after it was made, and when asked for."""

    url: str
    token_file: str
    token: str | None

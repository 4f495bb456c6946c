"""What the daemon can be told about itself: the keys of ``honchod.toml``.

Each section is a struct here, and that struct is the table of its keys, types, ranges, defaults and meanings.
"""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, Final, Literal

import msgspec

from honchod.identity.urls import CLOUD_URL
from honchod.service.units import DURATION, SIZE

_DURATION: Final[dict[str, Any]] = {"unit": DURATION}
_SIZE: Final[dict[str, Any]] = {"unit": SIZE}
_KIB: Final = 2**10
_GIB: Final = 2**30
_DAY_S: Final = 86_400
_TEN_YEARS_S: Final = 3_650 * _DAY_S
_MAX_ID: Final = 2**32 - 2
"""The largest uid or gid; the one above it means none."""

_MAX_PORT: Final = 65_535
_CLOUD_REQUESTS_PER_S: Final = 5.0

Delay = Annotated[float, msgspec.Meta(ge=0.05, le=600, extra=_DURATION)]
Backoff = Annotated[float, msgspec.Meta(ge=0.01, le=_DAY_S, extra=_DURATION)]
Retention = Annotated[float, msgspec.Meta(ge=0, le=_TEN_YEARS_S, extra=_DURATION)]
UnixId = Annotated[int, msgspec.Meta(ge=0, le=_MAX_ID)]
TopK = Annotated[int, msgspec.Meta(ge=1, le=100)]
"""A number of search results: Honcho's own range."""


def _says(text: str) -> msgspec.Meta:
    """What a key is for, in the words of the manual page and of the JSON schema."""
    return msgspec.Meta(description=text)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Section(msgspec.Struct, frozen=True):
    """A section of the file; every key of it is optional."""


class Access(Section, frozen=True):
    """Who may talk to the daemon besides root and its own user, who are operators."""

    allow_uids: Annotated[tuple[UnixId, ...], _says("Users that may write, recall and use tools.")] = ()
    allow_gids: Annotated[tuple[UnixId, ...], _says("Groups whose members may do so too.")] = ()
    operator_uids: Annotated[tuple[UnixId, ...], _says("Users that may do everything.")] = ()


class Delivery(Section, frozen=True):
    """How messages travel to Honcho."""

    concurrency: Annotated[
        int, msgspec.Meta(ge=1, le=64), _says("How many sessions are delivered to one destination at a time.")
    ] = 4
    batch_max: Annotated[
        int, msgspec.Meta(ge=1, le=100), _says("Messages in one request at most. Honcho takes 100.")
    ] = 100
    batch_bytes: Annotated[
        int,
        msgspec.Meta(ge=_KIB, le=_GIB, extra=_SIZE),
        _says("Content in one request at most; a single message may be larger."),
    ] = 2**20
    request_timeout_s: Annotated[Delay, _says("How long a request to Honcho may take.")] = 10.0
    max_attempts: Annotated[
        int,
        msgspec.Meta(ge=1, le=100),
        _says("How often a message is tried that fails by its own fault. Outages cost no attempt."),
    ] = 8
    max_age_s: Annotated[
        float,
        msgspec.Meta(ge=0.05, le=_TEN_YEARS_S, extra=_DURATION),
        _says("What has waited longer than this becomes a dead letter."),
    ] = msgspec.field(default=14.0 * _DAY_S, name="max_age")
    backoff_base_s: Annotated[
        Backoff, _says("The wait after a first failure; it doubles with each one, at random below that.")
    ] = 1.0
    backoff_cap_s: Annotated[Backoff, _says("The longest such wait.")] = 300.0
    retry_after_cap_s: Annotated[
        Backoff, _says("The longest pause that a server may ask for with Retry-After.")
    ] = 3_600.0
    settle_delay_s: Annotated[
        Delay,
        _says(
            "How long after it was sent an unanswered request may still land: only then is it looked up, "
            "and sent again if it is not there."
        ),
    ] = 15.0
    stop_timeout_s: Annotated[
        Delay,
        _says("How long a stop waits for requests in flight. The unit's TimeoutStopSec must be longer."),
    ] = 20.0
    requests_per_s: (
        Annotated[
            float,
            msgspec.Meta(ge=0, le=10_000),
            _says(
                "Requests per second to one URL; 0: no limit. Unset: 5 for the hosted Honcho, else no limit."
            ),
        ]
        | None
    ) = None

    def rate(self, url: str) -> float:
        """Requests per second to this base URL; 0: no limit. Unset, the hosted Honcho gets 5."""
        if self.requests_per_s is not None:
            return self.requests_per_s
        return _CLOUD_REQUESTS_PER_S if url == CLOUD_URL else 0.0


class Outbox(Section, frozen=True):
    """How much is kept, and for how long."""

    max_rows: Annotated[
        int,
        msgspec.Meta(ge=10, le=100_000_000),
        _says("Messages that are held at most, delivered ones included while their ids are remembered."),
    ] = 100_000
    max_bytes: Annotated[
        int,
        msgspec.Meta(ge=2**20, le=2**40, extra=_SIZE),
        _says("How large the database may become. At a bound, writes are refused with 507, never dropped."),
    ] = _GIB
    quota_share: Annotated[
        float,
        msgspec.Meta(ge=0.01, le=1),
        _says("The part of either bound that one user may fill; operators have no share."),
    ] = 0.5
    dedupe_window_s: Annotated[
        Retention, _says("How long the id of a delivered message is remembered, so that it is stored once.")
    ] = msgspec.field(default=7.0 * _DAY_S, name="dedupe_window")
    content_after_delivery_s: Annotated[
        Retention, _says("How long the content of a delivered message is kept here.")
    ] = msgspec.field(default=1.0 * _DAY_S, name="content_after_delivery")
    synchronous: Annotated[
        Literal["full", "normal"],
        _says("normal is faster and may lose the last writes when the power fails."),
    ] = "full"


class Limits(Section, frozen=True):
    """What the socket takes from a caller."""

    body_bytes: Annotated[
        int, msgspec.Meta(ge=_KIB, le=_GIB, extra=_SIZE), _says("The largest body of a request.")
    ] = 4 * 2**20
    messages_per_request: Annotated[
        int, msgspec.Meta(ge=1, le=100_000), _says("The most messages in one write.")
    ] = 1_000
    connections: Annotated[
        int,
        msgspec.Meta(ge=1, le=65_536),
        _says("The most connections at a time; at the limit the one that was idle longest is closed."),
    ] = 256
    arrival_s: Annotated[Delay, _says("How long a request may take to arrive.")] = 30.0
    idle_s: Annotated[Delay, _says("How long a connection may do nothing.")] = 60.0


class Recall(Section, frozen=True):
    """The recall cache, and what a query asks Honcho for."""

    cache_ttl_s: Annotated[
        float, msgspec.Meta(ge=0, le=_DAY_S, extra=_DURATION), _says("How long an answer counts as fresh.")
    ] = 120.0
    max_entries: Annotated[int, msgspec.Meta(ge=1, le=10_000_000), _says("How many answers are kept.")] = (
        2_000
    )
    search_top_k: Annotated[TopK, _says("How many conclusions a search asks for.")] = 8
    max_conclusions: Annotated[TopK, _says("How many conclusions a representation holds at most.")] = 20


class Capture(Section, frozen=True):
    """Redaction: what is hidden in messages before they are written to disk."""

    redact: Annotated[bool, _says("Hide keys, tokens and passwords.")] = True
    patterns: Annotated[
        tuple[str, ...],
        _says(
            "Regular expressions of further secrets, added to the built-in ones. One that searches a text "
            "for longer than 50 ms is stopped: the message is refused (redaction_failed), the log names it."
        ),
    ] = ()
    allow: Annotated[
        tuple[str, ...], _says("Regular expressions of what is let through although it looks like a secret.")
    ] = ()


class Http(Section, frozen=True):
    """The optional listener on loopback, for metrics, health and the web page."""

    listen: Annotated[str, _says('HOST:PORT on loopback, such as "127.0.0.1:9747"; empty: none.')] = ""
    token_file: Annotated[
        str, _says("Where the token of the web page is kept; empty: web-token in the state directory.")
    ] = ""
    webhook_secret_file: Annotated[
        str, _says("Holds the secret that Honcho signs its webhooks with; empty: none are taken.")
    ] = ""

    @property
    def address(self) -> tuple[str, int] | None:
        """Host and port to listen on (port 0: any), or None. Raises ValueError unless it is loopback."""
        if not self.listen:
            return None
        host, _, port = self.listen.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (port.isascii() and port.isdecimal() and int(port) <= _MAX_PORT and _is_loopback(host)):
            raise ValueError(
                f"expected HOST:PORT on loopback (127.0.0.1, [::1], localhost), up to {_MAX_PORT}"
            )
        return host, int(port)


class Log(Section, frozen=True):
    """The log on stderr."""

    level: Annotated[Literal["debug", "info", "warning", "error"], _says("The least that is logged.")] = (
        "info"
    )
    format: Annotated[
        Literal["auto", "json", "console"], _says("auto: console on a terminal, else JSON.")
    ] = "auto"


class File(msgspec.Struct, frozen=True):
    """``honchod.toml`` as it is written: the type that its JSON schema and its manual page are made from."""

    state_dir: Annotated[str, _says("Where the queue is kept.")] | None = None
    socket: Annotated[str, _says("Where callers find the daemon.")] | None = None
    honcho_config: (
        Annotated[
            str, _says("The Honcho configuration: servers, keys, who is who. Shared with other programs.")
        ]
        | None
    ) = None
    drop_dir: (
        Annotated[
            str,
            _says(
                "Where clients of the daemon's user leave what finds no daemon; taken in when it is back. "
                "Clients look for $HONCHOD_DROP, else honchod/drop under $XDG_STATE_HOME."
            ),
        ]
        | None
    ) = None
    access: Access = Access()
    delivery: Delivery = Delivery()
    outbox: Outbox = Outbox()
    limits: Limits = Limits()
    recall: Recall = Recall()
    capture: Capture = Capture()
    http: Http = Http()
    log: Log = Log()

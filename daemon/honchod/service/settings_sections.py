"""What the daemon can be told about itself: the keys of ``honchod.toml``.

Each section is a struct here, and that struct is the table of its keys, types, ranges and defaults.
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


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Section(msgspec.Struct, frozen=True):
    """A section of the file; every key of it is optional."""


class Access(Section, frozen=True):
    """Who may talk to the daemon besides root and its own uid: agents, and operators."""

    allow_uids: tuple[UnixId, ...] = ()
    allow_gids: tuple[UnixId, ...] = ()
    operator_uids: tuple[UnixId, ...] = ()


class Delivery(Section, frozen=True):
    """How events travel to Honcho."""

    concurrency: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4
    """Lanes in flight per destination."""
    batch_max: Annotated[int, msgspec.Meta(ge=1, le=100)] = 100
    batch_bytes: Annotated[int, msgspec.Meta(ge=_KIB, le=_GIB, extra=_SIZE)] = 2**20
    request_timeout_s: Delay = 10.0
    max_attempts: Annotated[int, msgspec.Meta(ge=1, le=100)] = 8
    max_age_s: Annotated[float, msgspec.Meta(ge=0.05, le=_TEN_YEARS_S, extra=_DURATION)] = msgspec.field(
        default=14.0 * _DAY_S, name="max_age"
    )
    backoff_base_s: Backoff = 1.0
    backoff_cap_s: Backoff = 300.0
    retry_after_cap_s: Backoff = 3_600.0
    settle_delay_s: Delay = 15.0
    """How long after it was sent an unanswered request may still land."""
    stop_timeout_s: Delay = 20.0
    requests_per_s: Annotated[float, msgspec.Meta(ge=0, le=10_000)] | None = None
    """0: no limit. None, when not set: what suits the destination, see ``rate``."""

    def rate(self, url: str) -> float:
        """Requests per second to this base URL; 0: no limit. Unset, the hosted Honcho gets 5."""
        if self.requests_per_s is not None:
            return self.requests_per_s
        return _CLOUD_REQUESTS_PER_S if url == CLOUD_URL else 0.0


class Outbox(Section, frozen=True):
    """How much is kept, and for how long."""

    max_rows: Annotated[int, msgspec.Meta(ge=10, le=100_000_000)] = 100_000
    max_bytes: Annotated[int, msgspec.Meta(ge=2**20, le=2**40, extra=_SIZE)] = _GIB
    quota_share: Annotated[float, msgspec.Meta(ge=0.01, le=1)] = 0.5
    """The part of either bound that one uid may fill; operators have no share."""
    dedupe_window_s: Retention = msgspec.field(default=7.0 * _DAY_S, name="dedupe_window")
    content_after_delivery_s: Retention = msgspec.field(default=1.0 * _DAY_S, name="content_after_delivery")
    synchronous: Literal["full", "normal"] = "full"


class Limits(Section, frozen=True):
    """What the socket takes from a caller."""

    body_bytes: Annotated[int, msgspec.Meta(ge=_KIB, le=_GIB, extra=_SIZE)] = 4 * 2**20
    messages_per_request: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 1_000
    connections: Annotated[int, msgspec.Meta(ge=1, le=65_536)] = 256
    arrival_s: Delay = 30.0
    idle_s: Delay = 60.0


class Recall(Section, frozen=True):
    """The recall cache, and what a query asks Honcho for."""

    cache_ttl_s: Annotated[float, msgspec.Meta(ge=0, le=_DAY_S, extra=_DURATION)] = 120.0
    max_entries: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] = 2_000
    search_top_k: TopK = 8
    max_conclusions: TopK = 20


class Capture(Section, frozen=True):
    """Redaction: patterns added to the built-in ones, and what is let through."""

    redact: bool = True
    patterns: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


class Http(Section, frozen=True):
    """The optional loopback listener. ``listen`` is ``HOST:PORT``; empty: none.

    ``token_file`` empty: ``web-token`` in the state directory. ``webhook_secret_file`` holds what Honcho
    signs its webhooks with; empty: none are taken.
    """

    listen: str = ""
    token_file: str = ""
    webhook_secret_file: str = ""

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
    """The log on stderr. ``auto``: console on a terminal, else JSON."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "console"] = "auto"


class File(msgspec.Struct, frozen=True):
    """``honchod.toml`` as it is written: the type its JSON schema is made from."""

    state_dir: str | None = None
    socket: str | None = None
    honcho_config: str | None = None
    access: Access = Access()
    delivery: Delivery = Delivery()
    outbox: Outbox = Outbox()
    limits: Limits = Limits()
    recall: Recall = Recall()
    capture: Capture = Capture()
    http: Http = Http()
    log: Log = Log()

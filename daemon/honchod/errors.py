"""Every error of the daemon, as one tree.

::

    HonchodError
    ├── ConfigError            a configuration file or flag is wrong; names every problem at once
    ├── Problem                an answer on the socket; carries status and code
    │   ├── BadRequest           400 bad_request
    │   ├── NotAllowed           403 not_allowed
    │   ├── NotFound             404 not_found
    │   ├── MethodNotAllowed     405 method_not_allowed
    │   ├── RequestTimeout       408 request_timeout
    │   ├── IdConflict           409 id_conflict
    │   ├── TooLarge             413 too_large
    │   ├── Unprocessable        422 unprocessable
    │   ├── UnknownHost          422 unknown_host
    │   ├── NoIdentity           422 no_identity
    │   ├── RedactionFailed      422 redaction_failed
    │   ├── HonchoRefused        502 honcho_refused
    │   ├── HonchoAway           503 honcho_away
    │   ├── QuotaUsedUp          429 quota
    │   ├── Draining             503 draining
    │   ├── Busy                 503 busy
    │   ├── BackupRefused        422 unprocessable
    │   └── OutboxFull           507 outbox_full
    ├── StartRefused           the daemon will not start; one line that says what to do
    │   ├── StateDirBusy         another daemon holds the state directory
    │   ├── SocketBusy           another daemon answers on the socket
    │   ├── StateDirUnusable     the state directory cannot be written, or is somebody else's
    │   ├── DatabaseUnusable     the database cannot be opened
    │   ├── DatabaseTooNew       the database belongs to a newer version
    │   └── MigrationFailed      the upgrade failed; the copy made before it is named
    ├── LeaseLost              a worker wrote under a lease that is no longer its own
    ├── IllegalTransition      an event may not change from this state to that one
    └── CallFailed             a call to Honcho did not succeed (raised by the gateway)
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import PurePath
from typing import ClassVar


class HonchodError(Exception):
    """The root: catching it catches everything the daemon raises on purpose."""


class ConfigError(HonchodError):
    """A configuration is wrong. ``problems`` names key, value and range of each fault, all at once."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


class Problem(HonchodError):
    """An error that the caller on the socket sees: problem+json with a stable ``code``.

    ``detail`` never carries content, keys or paths of the database. ``retry_after_s`` is set where
    waiting helps.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Internal error"

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after_s = retry_after_s


class BadRequest(Problem):
    """Not JSON, invalid UTF-8, a wrong type, an unknown field, an id of the wrong length."""

    status = 400
    code = "bad_request"
    title = "Bad request"


class NotAllowed(Problem):
    """The caller's uid may not do this."""

    status = 403
    code = "not_allowed"
    title = "Not allowed"


class NotFound(Problem):
    """No such thing."""

    status = 404
    code = "not_found"
    title = "Not found"


class MethodNotAllowed(Problem):
    """The path exists, but not with this method; ``allowed`` names those that it has."""

    status = 405
    code = "method_not_allowed"
    title = "Method not allowed"

    def __init__(self, allowed: Sequence[str]) -> None:
        self.allowed = tuple(allowed)
        super().__init__(f"this path takes {', '.join(self.allowed)}")


class RequestTimeout(Problem):
    """The request did not arrive as a whole in time; nothing was done."""

    status = 408
    code = "request_timeout"
    title = "Request too slow"


class IdConflict(Problem):
    """The same message id again with other content; the first is untouched."""

    status = 409
    code = "id_conflict"
    title = "Message id used with other content"


class TooLarge(Problem):
    """The body, or the number of messages, is over the limit."""

    status = 413
    code = "too_large"
    title = "Too large"


class Unprocessable(Problem):
    """Well-formed, but it can never be stored or sent."""

    status = 422
    code = "unprocessable"
    title = "Cannot be processed"


class BackupRefused(Unprocessable):
    """A copy of the database cannot be made or used. The detail names paths that the caller named."""


class UnknownHost(Problem):
    """The host is not configured; the detail lists those that are."""

    status = 422
    code = "unknown_host"
    title = "Unknown host"


class NoIdentity(Problem):
    """Nobody to attribute a human message to."""

    status = 422
    code = "no_identity"
    title = "No identity"


class RedactionFailed(Problem):
    """A redactor failed: nothing was stored."""

    status = 422
    code = "redaction_failed"
    title = "Redaction failed"


class HonchoRefused(Problem):
    """Honcho will not do this, and trying again does not help until something is mended."""

    status = 502
    code = "honcho_refused"
    title = "Honcho refused"


class HonchoAway(Problem):
    """Honcho cannot be asked now; trying again later helps."""

    status = 503
    code = "honcho_away"
    title = "Honcho is away"


class QuotaUsedUp(Problem):
    """The share of the queue that this uid may fill is used up."""

    status = 429
    code = "quota"
    title = "Quota used up"


class Draining(Problem):
    """The daemon is stopping and takes nothing more."""

    status = 503
    code = "draining"
    title = "Stopping"


class Busy(Problem):
    """Every connection that the daemon may have is at work on a request."""

    status = 503
    code = "busy"
    title = "Too many connections"


class OutboxFull(Problem):
    """The row or byte bound is reached, or the disk is full: nothing was stored."""

    status = 507
    code = "outbox_full"
    title = "Outbox full"


class StartRefused(HonchodError):
    """The daemon will not start. The text is one line that says what to do."""


class StateDirBusy(StartRefused):
    """Another daemon holds the state directory."""


class SocketBusy(StartRefused):
    """Another daemon answers on the socket."""


class StateDirUnusable(StartRefused):
    """The state directory cannot be made or written, or it belongs to somebody else."""


class DatabaseUnusable(StartRefused):
    """The database cannot be opened; it is left as it was."""


class DatabaseTooNew(StartRefused):
    """The database was written by a newer version; it is left untouched."""


class MigrationFailed(StartRefused):
    """The database could not be upgraded; the copy made before is named and kept."""


class LeaseLost(HonchodError):
    """The lane's lease is no longer this worker's; nothing was written."""


class IllegalTransition(HonchodError):
    """An event may not change from this state to that one."""


class CallReason(Enum):
    """What happened to a call, as far as the gateway can tell."""

    STATUS = "status"
    """The server answered with an error status; ``status`` holds it."""
    UNREACHABLE = "unreachable"
    """Name look-up, refused, TLS or connect timeout: the request never left."""
    TIMEOUT = "timeout"
    """The request went out and no answer came in time."""
    CUT = "cut"
    """The connection broke after the request may have gone out."""
    NOT_HONCHO = "not_honcho"
    """A 2xx that is not Honcho's answer: a captive portal's page, a wrong shape."""
    EMPTY = "empty"
    """A stream that said nothing: so Honcho answers when its model is down."""
    LOCAL = "local"
    """Refused on this side before anything was sent (characters no request can carry)."""


class CallFailed(HonchodError):
    """A call to Honcho did not succeed.

    ``reason`` and ``status`` (0 without an answer) are facts; ``retry_after`` is the raw header, if any;
    ``code`` is short, sanitised and safe to log. It never carries a response body or a key.
    """

    def __init__(self, reason: CallReason, *, status: int = 0, retry_after: str | None = None) -> None:
        self.reason = reason
        self.status = status
        self.retry_after = retry_after
        self.code = f"http_{status}" if reason is CallReason.STATUS else reason.value
        super().__init__(self.code)


def raised_at(error: BaseException) -> str:
    """File and line that raised, for a log: the text of an error may quote what was said."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return f"{PurePath(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last else "unknown"

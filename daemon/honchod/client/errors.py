"""Every failure a client can meet, as one tree.

::

    ClientError
    ├── NotReachable           no daemon to talk to; nothing was handed over
    │   └── NoAnswer             the request went out and no answer came: it may or may not have been done
    ├── NotAllowed             the socket, or the daemon (403 not_allowed), does not let this user do it
    ├── Rejected               the daemon answered with a problem; carries status, code, detail
    │   ├── BadRequest           400 bad_request
    │   ├── NotFound             404 not_found
    │   ├── IdConflict           409 id_conflict
    │   ├── TooLarge             413 too_large
    │   ├── Unprocessable        422 unprocessable
    │   ├── UnknownHost          422 unknown_host
    │   ├── NoIdentity           422 no_identity
    │   ├── RedactionFailed      422 redaction_failed
    │   ├── QuotaUsedUp          429 quota
    │   ├── Draining             503 draining
    │   ├── Busy                 503 busy
    │   └── OutboxFull           507 outbox_full
    ├── BadAnswer              what came back is not the daemon's answer
    └── NotKept                no daemon took a write, and the drop box does not keep it
        ├── DropFull             drop_full: as much waits in it as it holds
        ├── DropRefused          drop_refused: what may not stand in a file
        ├── DropUnredacted       drop_redaction_failed: a redactor failed
        └── DropUnusable         drop_unusable: the box cannot be written

Each has a stable ``code``. A code this client does not know is a plain ``Rejected``.
"""

from __future__ import annotations

START_LINE = "honchod run"
"""The line that starts a daemon in the foreground."""


class ClientError(Exception):
    """The root: catching it catches everything a client raises about the daemon."""

    code = "client_error"


class NotReachable(ClientError):
    """No daemon answers. ``socket_path`` was tried; nothing was handed over."""

    code = "not_reachable"

    def __init__(self, socket_path: str, reason: str) -> None:
        super().__init__(f"no daemon answers on {socket_path} ({reason}); start it with: {START_LINE}")
        self.socket_path = socket_path
        self.reason = reason


class NoAnswer(NotReachable):
    """The request went out and no answer came: the daemon may have done it or not.

    A write repeated with the same message ids stores nothing twice. ``timed_out`` is true when the
    connection still stood and the time was up.
    """

    code = "no_answer"

    def __init__(self, socket_path: str, reason: str, *, timed_out: bool = False) -> None:
        super().__init__(socket_path, reason)
        self.args = (f"the daemon on {socket_path} gave no answer ({reason})",)
        self.timed_out = timed_out


class NotAllowed(ClientError):
    """The user may not open the socket, or may not do this."""

    code = "not_allowed"


class BadAnswer(ClientError):
    """What came back is not HTTP, not JSON or not the shape that was promised."""

    code = "bad_answer"


class NotKept(ClientError):
    """No daemon took a write, and the drop box does not keep it: nothing of it is anywhere.

    Its cause is why no daemon took it, where one was asked.
    """

    code = "not_kept"

    def __init__(self, detail: str) -> None:
        super().__init__(f"no daemon took it, and it is not in the drop box: {detail}")
        self.detail = detail


class DropFull(NotKept):
    """As many requests or bytes wait in the box as it holds."""

    code = "drop_full"


class DropRefused(NotKept):
    """What may not stand in a file: a secret in a name, a field that the daemon does not know, too much."""

    code = "drop_refused"


class DropUnredacted(NotKept):
    """A redactor failed: nothing was written."""

    code = "drop_redaction_failed"


class DropUnusable(NotKept):
    """The box cannot be written: it is another user's, no directory, on a full or read-only disk."""

    code = "drop_unusable"


class Rejected(ClientError):
    """The daemon answered with a problem.

    ``retry_after_s`` is set where the daemon says that waiting helps.
    """

    def __init__(self, status: int, code: str, detail: str, retry_after_s: float | None = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after_s = retry_after_s


class BadRequest(Rejected):
    """Not what the daemon expects; the detail names the field."""


class NotFound(Rejected):
    """No such thing."""


class IdConflict(Rejected):
    """A message id was used again with other content; the first is untouched."""


class TooLarge(Rejected):
    """The body, or the number of messages, is over the daemon's limit."""


class Unprocessable(Rejected):
    """Well-formed, but it can never be stored or sent."""


class UnknownHost(Rejected):
    """The host is not configured; the detail lists those that are."""


class NoIdentity(Rejected):
    """Nobody to attribute a human message to."""


class RedactionFailed(Rejected):
    """A redactor failed: nothing was stored."""


class QuotaUsedUp(Rejected):
    """The user's share of the queue is used up."""


class Draining(Rejected):
    """The daemon is stopping and takes nothing more."""


class Busy(Rejected):
    """Every connection that the daemon may have is at work."""


class OutboxFull(Rejected):
    """The queue or the disk is full: nothing was stored."""


_BY_CODE: dict[str, type[Rejected]] = {
    "bad_request": BadRequest,
    "not_found": NotFound,
    "id_conflict": IdConflict,
    "too_large": TooLarge,
    "unprocessable": Unprocessable,
    "unknown_host": UnknownHost,
    "no_identity": NoIdentity,
    "redaction_failed": RedactionFailed,
    "quota": QuotaUsedUp,
    "draining": Draining,
    "busy": Busy,
    "outbox_full": OutboxFull,
}


def problem_error(
    status: int, code: str, detail: str, retry_after_s: float | None = None
) -> Rejected | NotAllowed:
    """The error for a problem with this ``code``: the class of the tree, or ``Rejected`` itself."""
    if code == NotAllowed.code:
        return NotAllowed(detail)
    return _BY_CODE.get(code, Rejected)(status, code, detail, retry_after_s)

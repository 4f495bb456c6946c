"""A connection to the daemon, and blocking exchanges over it."""

from __future__ import annotations

import socket
import time

from honchod.client.errors import NoAnswer, NotAllowed, NotReachable
from honchod.client.wire import Answer, AnswerReader

RECEIVE_BYTES = 64 * 1024

BACKLOG_RETRY_S = 0.005
"""Connecting to a Unix socket whose backlog is full fails at once; it is tried again after this long."""

EARLY_ANSWER_S = 0.2
"""How long to look for the answer to a request that the daemon did not take whole."""


CUT = "the connection was closed"


class Link:
    """A connected Unix socket, to the daemon on ``path``, that carries one exchange at a time."""

    def __init__(self, path: str, connected: socket.socket) -> None:
        self.path = path
        self.socket = connected

    def is_stale(self) -> bool:
        """Whether the daemon has closed this idle connection, or said something unasked."""
        try:
            self.socket.settimeout(0)
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        """Close it; the daemon sees the end."""
        self.socket.close()


def connect(path: str, timeout_s: float) -> Link:
    """Connect within ``timeout_s``. Raises NotReachable, or NotAllowed where permissions forbid it."""
    deadline_s = time.monotonic() + timeout_s
    connecting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        while True:
            try:
                connecting.settimeout(_left_s(deadline_s))
                connecting.connect(path)
            except BlockingIOError:
                time.sleep(BACKLOG_RETRY_S)
            else:
                return Link(path, connecting)
    except OSError as error:
        connecting.close()
        raise connect_error(path, error) from error


def exchange(link: Link, request: bytes, timeout_s: float) -> Answer:
    """Send ``request`` and wait for its answer, both within ``timeout_s``.

    Raises NotReachable when the request cannot have been taken because it did not go out whole, NoAnswer
    when it went out and the answer did not come, BadAnswer for what is not HTTP. After any of them the
    connection is of no more use.
    """
    deadline_s = time.monotonic() + timeout_s
    unsent: OSError | None = None
    try:
        link.socket.settimeout(_left_s(deadline_s))
        link.socket.sendall(request)
    except OSError as error:
        # A daemon that refuses a request early has already answered: look for that, and only that.
        unsent = error
        deadline_s = time.monotonic() + EARLY_ANSWER_S
    try:
        return _receive(link.socket, deadline_s)
    except OSError as error:
        raise exchange_error(link.path, error, unsent) from error


def _receive(connected: socket.socket, deadline_s: float) -> Answer:
    reader = AnswerReader()
    while True:
        connected.settimeout(_left_s(deadline_s))
        data = connected.recv(RECEIVE_BYTES)
        answer = reader.feed(data) if data else reader.end()
        if answer is not None:
            return answer
        if not data:
            raise ConnectionError(CUT)


def connect_error(path: str, error: OSError) -> NotReachable | NotAllowed:
    """What a failed connect means to the caller."""
    if isinstance(error, PermissionError):
        return NotAllowed(f"no permission to open {path}")
    return NotReachable(path, _reason(error))


def exchange_error(path: str, error: OSError, unsent: OSError | None) -> NotReachable:
    """What an exchange without an answer means; ``unsent`` is what kept the request from going out whole."""
    if unsent is not None:
        return NotReachable(path, _reason(unsent))
    return NoAnswer(path, _reason(error), timed_out=isinstance(error, TimeoutError))


def _left_s(deadline_s: float) -> float:
    """Seconds until the deadline; raises TimeoutError once it has passed."""
    left_s = deadline_s - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "time is up"
    return error.strerror or str(error)

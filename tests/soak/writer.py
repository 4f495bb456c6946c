"""The writers: each says what its plan holds over the socket, and notes what it is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from honchod.client import Client
from honchod.client.errors import NoAnswer, NotReachable, Rejected, Unprocessable
from soak.ledger import Ledger, Told
from soak.plan import Intent, Request
from support.daemon import DaemonProcess

ANSWER_TIMEOUT_S = 5.0
SHORT_OF_TIME_S = 0.3
"""How long a writer waits for an answer when it is one that gives up."""
PATIENCE_S = 60.0


class Pace:
    """How many messages may have been acknowledged by now, so that writing lasts as long as the killing."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._allowed = 0
        self._over = False

    def allow(self, messages: int) -> None:
        """Let the writers go up to this number."""
        with self._changed:
            self._allowed = messages
            self._changed.notify_all()

    def end(self) -> None:
        """No more."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    @property
    def over(self) -> bool:
        """Whether writing is to end."""
        return self._over

    def wait(self, ledger: Ledger) -> bool:
        """Wait for one's turn. False when there is none any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or ledger.acked < self._allowed)
            return not self._over


def write_all(requests: Iterator[Request], daemon: DaemonProcess, ledger: Ledger, pace: Pace) -> None:
    """Write one request after the other until the pace ends."""
    with daemon.client() as client:
        for request in requests:
            if not pace.wait(ledger):
                return
            _write(request, client, ledger, pace)


def _write(request: Request, client: Client, ledger: Ledger, pace: Pace) -> None:
    messages = [
        {"id": line.id, "content": line.content, **({"metadata": line.metadata} if line.metadata else {})}
        for line in request.lines
    ]
    dropped = request.intent is Intent.DROPPED
    repeated = False
    while True:
        started_s = time.perf_counter()
        try:
            written = client.write(
                messages,
                session=request.session,
                wait_s=0.0 if dropped else PATIENCE_S,
                timeout_s=SHORT_OF_TIME_S if dropped else ANSWER_TIMEOUT_S,
            )
        except NoAnswer:
            if dropped or pace.over:
                ledger.note(request, Told.UNKNOWN)
                return
        except Unprocessable:
            assert request.intent is Intent.REFUSED, f"a good message of {request.session} was refused"
            ledger.note(request, Told.REFUSED)
            return
        except (NotReachable, Rejected):
            if dropped or pace.over:
                # After an earlier try without an answer, only that one may have stored it.
                ledger.note(request, Told.UNKNOWN if repeated else Told.REFUSED)
                return
        else:
            assert request.intent is not Intent.REFUSED, f"a bad message of {request.session} was taken"
            took_ms = None if repeated else (time.perf_counter() - started_s) * 1000
            ledger.note(request, Told.ACKED, tuple(result.parts or 0 for result in written.results), took_ms)
            return
        repeated = True

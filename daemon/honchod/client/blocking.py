"""The blocking client."""

from __future__ import annotations

import os
import time

from honchod.client import calls, connection
from honchod.client.address import socket_path
from honchod.client.errors import ClientError, NoAnswer, NotReachable
from honchod.client.operations import Operations
from honchod.client.persistence import Persistence, is_kept
from honchod.client.pool import Pool
from honchod.client.results import Recalled, Written, read_recalled, read_written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Any

    from honchod.client.calls import Call
    from honchod.client.connection import Link
    from honchod.client.wire import Answer


class Client(Operations):
    """Talks to the daemon of this machine; blocking, safe to share between threads and across a fork.

    Each exchange has a connection of its own, taken from a small pool of idle ones, so threads never wait for
    each other. ``socket`` is the path of the daemon's socket (default: see ``address.socket_path``).
    ``timeout_s`` bounds each try of a call; ``wait_s`` is how long a call may go on trying in total while the
    daemon is away or asks to come back later (queue full, quota, restart). Both can be given to a single call
    too. With ``wait_s=0`` such a failure is raised at once; so is one that asks for more time than is left.

    With ``drop`` a write that no daemon takes, or that no answer comes for, is kept in the drop box of this
    user (``honchod.client.box``) until one takes it in; ``Written.dropped`` tells. To connect may then take
    ``calls.CONNECT_S``, and the answer to a write ``calls.KEEP_AFTER_S``. What waits in the box is handed
    over first, and what cannot be handed over yet is joined by what is written after it, so that order is
    kept. What the daemon refuses is raised.

    Every method raises the errors of ``honchod.client.errors``.
    """

    def __init__(
        self,
        socket: str | os.PathLike[str] | None = None,
        *,
        timeout_s: float = calls.ANSWER_TIMEOUT_S,
        wait_s: float = 0.0,
        drop: bool = False,
    ) -> None:
        self.socket_path = socket_path() if socket is None else os.fspath(socket)
        self._timeout_s = timeout_s
        self._wait_s = wait_s
        self._drop = drop
        self._pool = Pool()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the idle connections; one still in an exchange closes when that ends."""
        self._pool.close()

    def write(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        locator: Mapping[str, str] | None = None,
        host: str | None = None,
        scope: str | None = None,
        turn_end: bool = False,
        group: bool = False,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> Written:
        """Hand over messages, all or nothing; returns once they are on disk.

        A message is a mapping as in the API (``{"content": …, "role": …, "id": …}``). One without an id gets
        one, so a write whose answer was lost is repeated and still stored once (its status is then
        ``duplicate``). Give ids of your own when the same message may be written by another process too.
        """
        call = calls.write(
            messages,
            session=session,
            locator=locator,
            host=host,
            scope=scope,
            turn_end=turn_end,
            group=group,
        )
        if self._drop:
            return self._write_or_keep(call, timeout_s, wait_s)
        return read_written(self._do(call, timeout_s, wait_s))

    def recall(
        self,
        query: str | None = None,
        *,
        session: str | None = None,
        locator: Mapping[str, str] | None = None,
        tokens: int | None = None,
        recall_wait_ms: int = 0,
        host: str | None = None,
        scope: str | None = None,
        sections: Sequence[str] | None = None,
        peek: bool = False,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> Recalled:
        """Memory for the prompt. ``recall_wait_ms`` above 0 lets the daemon wait for a fresh answer."""
        call = calls.recall(
            session=session,
            locator=locator,
            query=query,
            tokens=tokens,
            recall_wait_ms=recall_wait_ms,
            host=host,
            scope=scope,
            sections=sections,
            peek=peek,
        )
        return read_recalled(self._do(call, timeout_s, wait_s))

    def call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        repeatable: bool | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> Any:
        """Any call of the API, its answer decoded.

        ``repeatable`` says whether it may be sent again when its answer was lost; by default only a GET may.
        """
        return self._do(calls.other(method, path, body, repeatable), timeout_s, wait_s)

    def _write_or_keep(self, call: Call, timeout_s: float | None, wait_s: float | None) -> Written:
        from honchod.client import drop

        limit_s = timeout_s or min(self._timeout_s, calls.KEEP_AFTER_S)
        tried = False
        if drop.is_through(self.socket_path):
            try:
                return read_written(self._do(call, limit_s, wait_s))
            except ClientError as error:
                if not is_kept(error):
                    raise
                tried = isinstance(error, NoAnswer)
        return drop.keep(call, tried=tried)

    def _do(self, call: Call, timeout_s: float | None = None, wait_s: float | None = None) -> Any:
        request = call.encode()
        limit_s = timeout_s or call.timeout_s or self._timeout_s
        persistence = Persistence(call, self._wait_s if wait_s is None else wait_s, time.monotonic())
        while True:
            try:
                return call.read(self._exchange(request, limit_s))
            except ClientError as error:
                delay_s = persistence.delay_after(error, time.monotonic())
            time.sleep(delay_s)

    def _exchange(self, request: bytes, timeout_s: float) -> Answer:
        pooled = self._pool.take()
        if pooled is not None:
            try:
                return self._exchange_on(pooled, request, timeout_s)
            except NoAnswer:
                raise
            except NotReachable:
                pass  # The daemon closed it between two requests: nothing went out, a fresh one will do.
        connect_s = min(timeout_s, calls.CONNECT_S) if self._drop else timeout_s
        return self._exchange_on(connection.connect(self.socket_path, connect_s), request, timeout_s)

    def _exchange_on(self, link: Link, request: bytes, timeout_s: float) -> Answer:
        reusable = False
        try:
            answer = connection.exchange(link, request, timeout_s)
            reusable = answer.reusable
            return answer
        finally:
            if reusable:
                self._pool.give_back(link)
            else:
                link.close()

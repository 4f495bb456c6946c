"""The asyncio client."""

from __future__ import annotations

import asyncio
import os
import socket as sockets
import time
from typing import TYPE_CHECKING, Any

from honchod.client import calls
from honchod.client.address import socket_path
from honchod.client.connection import (
    BACKLOG_RETRY_S,
    CUT,
    EARLY_ANSWER_S,
    RECEIVE_BYTES,
    Link,
    connect_error,
    exchange_error,
)
from honchod.client.errors import ClientError, NoAnswer, NotReachable
from honchod.client.operations import Operations
from honchod.client.persistence import Persistence, is_kept
from honchod.client.pool import Pool
from honchod.client.results import Recalled, Written, read_recalled, read_written
from honchod.client.wire import Answer, AnswerReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType

    from honchod.client.calls import Call


async def _connect(path: str, timeout_s: float) -> Link:
    """As ``connection.connect``."""
    connecting = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        connecting.setblocking(False)
        async with asyncio.timeout(timeout_s):
            # Not loop.sock_connect: it takes a full backlog (EAGAIN) for a connect in progress.
            while True:
                try:
                    connecting.connect(path)
                except BlockingIOError:
                    await asyncio.sleep(BACKLOG_RETRY_S)
                else:
                    return Link(path, connecting)
    except OSError as error:
        connecting.close()
        raise connect_error(path, error) from error
    except asyncio.CancelledError:
        connecting.close()
        raise


async def _exchange(link: Link, request: bytes, timeout_s: float) -> Answer:
    """As ``connection.exchange``."""
    unsent: OSError | None = None
    try:
        async with asyncio.timeout(timeout_s) as limit:
            try:
                await asyncio.get_running_loop().sock_sendall(link.socket, request)
            except OSError as error:
                unsent = error
                limit.reschedule(asyncio.get_running_loop().time() + EARLY_ANSWER_S)
            return await _receive(link.socket)
    except OSError as error:
        raise exchange_error(link.path, error, unsent) from error


async def _receive(connected: sockets.socket) -> Answer:
    loop = asyncio.get_running_loop()
    reader = AnswerReader()
    while True:
        data = await loop.sock_recv(connected, RECEIVE_BYTES)
        answer = reader.feed(data) if data else reader.end()
        if answer is not None:
            return answer
        if not data:
            raise ConnectionError(CUT)


class AsyncClient(Operations):
    """``Client`` for asyncio: the same calls, awaited; safe to share between the tasks of one loop.

    A cancelled call closes its connection; what it asked for may have been done.
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

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the idle connections; one still in an exchange closes when that ends."""
        self._pool.close()

    async def write(
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
        """As ``Client.write``."""
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
            return await self._write_or_keep(call, timeout_s, wait_s)
        return read_written(await self._do(call, timeout_s, wait_s))

    async def recall(
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
        """As ``Client.recall``."""
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
        return read_recalled(await self._do(call, timeout_s, wait_s))

    async def call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        repeatable: bool | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> Any:
        """As ``Client.call``."""
        return await self._do(calls.other(method, path, body, repeatable), timeout_s, wait_s)

    async def _write_or_keep(self, call: Call, timeout_s: float | None, wait_s: float | None) -> Written:
        from honchod.client import drop

        limit_s = timeout_s or min(self._timeout_s, calls.KEEP_AFTER_S)
        tried = False
        if await asyncio.to_thread(drop.is_through, self.socket_path):
            try:
                return read_written(await self._do(call, limit_s, wait_s))
            except ClientError as error:
                if not is_kept(error):
                    raise
                tried = isinstance(error, NoAnswer)

        return await asyncio.to_thread(drop.keep, call, tried=tried)

    async def _do(self, call: Call, timeout_s: float | None = None, wait_s: float | None = None) -> Any:
        request = call.encode()
        limit_s = timeout_s or call.timeout_s or self._timeout_s
        persistence = Persistence(call, self._wait_s if wait_s is None else wait_s, time.monotonic())
        while True:
            try:
                return call.read(await self._exchange(request, limit_s))
            except ClientError as error:
                delay_s = persistence.delay_after(error, time.monotonic())
            await asyncio.sleep(delay_s)

    async def _exchange(self, request: bytes, timeout_s: float) -> Answer:
        pooled = self._pool.take()
        if pooled is not None:
            try:
                return await self._exchange_on(pooled, request, timeout_s)
            except NoAnswer:
                raise
            except NotReachable:
                pass  # The daemon closed it between two requests: nothing went out, a fresh one will do.
        connect_s = min(timeout_s, calls.CONNECT_S) if self._drop else timeout_s
        return await self._exchange_on(await _connect(self.socket_path, connect_s), request, timeout_s)

    async def _exchange_on(self, link: Link, request: bytes, timeout_s: float) -> Answer:
        reusable = False
        try:
            answer = await _exchange(link, request, timeout_s)
            reusable = answer.reusable
            return answer
        finally:
            if reusable:
                self._pool.give_back(link)
            else:
                link.close()

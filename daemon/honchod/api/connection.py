"""One client's connection: who it is, what it is waiting for, and how it ends."""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import structlog
from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.streams import StreamReader

from honchod.api import problems
from honchod.api.asked import Reply
from honchod.api.bodies import PeerLeft
from honchod.api.callers import Caller, caller_of
from honchod.api.phases import Phase
from honchod.api.request_ids import request_id
from honchod.api.whole import Whole, read_whole
from honchod.errors import BadRequest, Problem, RequestTimeout

if TYPE_CHECKING:
    from honchod.api.connections import Connections

_log = structlog.get_logger(__name__)


class Awaited(msgspec.Struct, frozen=True):
    """The answer to a request that came whole, once ``future`` is done: ``reply`` makes it of that."""

    future: asyncio.Future[Any]
    reply: Callable[[asyncio.Future[Any]], Reply]


Beginning = Callable[[], Reply | Awaited]
"""Begins the work for a request that came whole."""


class Connection(web.RequestHandler):
    """The HTTP protocol of aiohttp, with the peer's credentials and a phase that bounds every wait.

    Requests that come whole are answered without it, until the first that does not: from then on it reads
    all, for it may hold the beginning of the next one.

    aiohttp has no bound on how long headers, a body or the reading of an answer may take; here each phase
    records when it began, and ``Connections`` ends those that last too long.
    """

    __slots__ = (
        *("_body", "_connections", "_half_closed", "_handed_over", "_held", "_serving", "_work"),
        *("attended", "caller", "phase", "since_s"),
    )

    caller: Caller

    def __init__(self, connections: Connections, *, loop: asyncio.AbstractEventLoop, **options: Any) -> None:
        super().__init__(connections, loop=loop, **options)
        self._connections = connections
        self._body: StreamReader | None = None
        self._work: asyncio.Future[Any] | None = None
        self._half_closed = False
        self._handed_over = False
        self._serving = False
        self._held = b""
        self.attended = False
        """Whether the work in hand ends with the peer: nobody else wants its result."""
        self.phase = Phase.IDLE
        self.since_s = time.monotonic()

    def enter(self, phase: Phase) -> None:
        """Begin a phase; its time starts now (finer than the loop's clock, which counts milliseconds)."""
        self.phase = phase
        self.since_s = time.monotonic()

    def begin(self, body: StreamReader, work: asyncio.Task[None]) -> None:
        """A request's headers are complete and its handler is about to run."""
        self._body = body
        self._work = work
        if body.is_eof():
            self.enter(Phase.WORKING)
        elif self.phase is not Phase.ARRIVING:
            self.enter(Phase.ARRIVING)
        self._give_up_broken_body()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Read the peer's credentials, once, and take a place among the connections."""
        super().connection_made(transport)
        self.caller = caller_of(transport.get_extra_info("socket"))
        self._connections.admit(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Give the place back, once nothing works any more for the peer that left."""
        super().connection_lost(exc)
        if self._work is None:
            self._connections.left(self)
        else:
            self._work.add_done_callback(lambda _: self._connections.left(self))
            if self.attended and self.phase in (Phase.WORKING, Phase.SENDING):
                self._leave()

    def data_received(self, data: bytes) -> None:
        """Answer a request that came whole, or have aiohttp read on."""
        if self._serving:
            self._hold(data)
            return
        if not self._handed_over:
            whole = read_whole(data) if self.phase is Phase.IDLE else None
            if whole is not None:
                self._serve(whole)
                return
            self._handed_over = True
        if data and self.phase is Phase.IDLE:
            # The first byte of a request starts the time it has to arrive.
            self.enter(Phase.ARRIVING)
        super().data_received(data)
        self._give_up_broken_body()

    def _serve(self, whole: Whole) -> None:
        """Answer a request that came whole: at once, or when what is waited for is there."""
        self._serving = True
        self.enter(Phase.WORKING)
        answer = self._connections.serve(whole, self)
        if isinstance(answer, Reply | Awaited):
            self._take(answer)
        else:
            # What came in one round of the loop begins together in the next. Else another thread, woken for
            # the first of several, would want the interpreter at each of the others: a switch for each.
            self._loop.call_soon(self._begin, answer)

    def _begin(self, beginning: Beginning) -> None:
        self._take(beginning())

    def _take(self, answer: Reply | Awaited) -> None:
        if isinstance(answer, Reply):
            self._send(answer)
        else:
            self._work = answer.future
            answer.future.add_done_callback(partial(self._answered, answer.reply))

    def _answered(self, reply: Callable[[asyncio.Future[Any]], Reply], awaited: asyncio.Future[Any]) -> None:
        if awaited.cancelled():
            return
        try:
            made = reply(awaited)
        except Exception as error:
            self.log_exception(exc_info=error)
            self.cut()
        else:
            # What one commit has answered is made in one round of the loop and sent in the next: a process
            # that waits for several of its answers is woken once, which costs most of a small write.
            self._loop.call_soon(self._send, made)

    def _send(self, reply: Reply) -> None:
        """Send the answer to the request that came whole, and go on with what came meanwhile."""
        self._work = None
        if self.transport is not None:
            self.transport.write(reply.raw(last=self._connections.closing))
        if self.writing_paused:
            self.enter(Phase.SENDING)
            self._work = self._loop.create_task(self._see_off())
        else:
            self._served()

    async def _see_off(self) -> None:
        """Wait for a peer that is slow to read its answer."""
        try:
            await self._drain_helper()
        except ConnectionError:
            pass  # The peer has left.
        finally:
            self._work = None
        self._served()

    def _served(self) -> None:
        self._serving = False
        if self.phase is Phase.CLOSING:
            return
        self.enter(Phase.IDLE)
        if self._connections.closing:
            self.hang_up()
        elif self._held:
            held, self._held = self._held, b""
            self._resume_transport_reading()
            self.data_received(held)
        if self._half_closed and not self._serving and not self._messages:
            self.hang_up()

    def _hold(self, data: bytes) -> None:
        """Keep what comes while a request is answered, and take in no more than that."""
        self._held += data
        self._pause_transport_reading()

    def eof_received(self) -> bool:  # type: ignore[override]
        """A peer that closed its sending half still gets the answers to what it had sent as a whole."""
        self._half_closed = True
        if self.attended and self.phase in (Phase.WORKING, Phase.SENDING) and self._has_left():
            self._leave()
            return False
        complete = self._body is not None and self._body.is_eof()
        return bool(self._messages) or complete or self.phase in (Phase.WORKING, Phase.SENDING)

    def _leave(self) -> None:
        """End the work for a peer that has left; once, for a second time would cut its tidying up short."""
        self.attended = False
        if self._work is not None:
            self._work.cancel()

    def _has_left(self) -> bool:
        """Whether the peer has closed both halves; the end of what it sends says only that of one."""
        sock = None if self.transport is None else self.transport.get_extra_info("socket")
        if sock is None:
            return True
        poll = select.poll()
        poll.register(sock.fileno(), 0)
        return any(event & select.POLLHUP for _, event in poll.poll(0))

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send the answer, within the time that a peer may take to read it."""
        self.enter(Phase.SENDING)
        body = request.content
        if self._connections.closing or not body.is_eof() or body.exception() is not None:
            # What is left of a body that was not read to its end could be taken for the next request.
            resp.force_close()
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self._body = None
            self.enter(Phase.IDLE)
            if self._half_closed and not self._messages:
                self.hang_up()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what is no HTTP with a problem. The parser's text is left out: it quotes what was sent."""
        if isinstance(exc, PeerLeft):
            raise exc
        problem: Problem
        if status >= 500:
            problem = problems.internal()
        elif isinstance(exc, LineTooLong):
            problem = BadRequest("the request line or a header is too long")
        else:
            problem = BadRequest("the request is not well-formed HTTP/1.1")
        reply = problems.reply(problem, request_id())
        response = web.Response(body=reply.body, status=reply.status, headers=reply.headers)
        response.force_close()
        return response

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log a failure of the protocol by its type alone: its text may quote the request."""
        error = kw.get("exc_info")
        _log.error("connection.failed", error=type(error).__name__, uid=self.caller.uid, pid=self.caller.pid)

    def _give_up_broken_body(self) -> None:
        """End a body whose framing is broken: aiohttp queues the error like a next request, and forgets it.

        Nothing else can be queued behind a body that is not complete.
        """
        if self._messages and self._body is not None and not self._body.is_eof():
            self._body.set_exception(web.RequestPayloadError())
            self._body.feed_eof()

    def expire(self) -> None:
        """End a wait for the peer that has lasted too long."""
        match self.phase:
            case Phase.ARRIVING:
                self.refuse(RequestTimeout("the request did not arrive as a whole in time"))
            case Phase.IDLE:
                self.hang_up()
            case _:
                self.cut()

    def refuse(self, problem: Problem) -> None:
        """Close with a problem for an answer, where no request is complete."""
        if self.transport is not None:
            self.transport.write(problems.reply(problem, request_id()).raw(last=True))
        self.hang_up()

    def hang_up(self) -> None:
        """Close once everything written has been handed over."""
        self.enter(Phase.CLOSING)
        if self.transport is not None:
            self.transport.close()

    def cut(self) -> None:
        """Close now; what the peer has not read is dropped."""
        self.enter(Phase.CLOSING)
        if self.transport is not None:
            self.transport.abort()

    def give_up(self) -> None:
        """Close now and end the work for the peer, even if it left long ago."""
        self.cut()
        if self._work is not None:
            self._work.cancel()

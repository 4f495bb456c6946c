"""All connections of the front door: how many there may be, and which of them have to go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader

from honchod.api.asked import Reply
from honchod.api.connection import Awaited, Beginning, Connection
from honchod.api.phases import Phase, allowed_s, first_to_go, sweep_interval_s
from honchod.api.whole import Whole
from honchod.errors import Busy
from honchod.ops.views import LimitsView

_HEADER_LINE_BYTES: Final = 8190
_HEADERS: Final = 64
_LINGER_S: Final = 2.0
"""How long a peer whose request was refused early may go on sending before it is cut off."""
_STRAGGLER_S: Final = 0.2
_NEVER_S: Final = 86_400.0
"""aiohttp's own idle timer cannot tell a slow header from silence: the sweep stands in for it."""

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
WholeHandler = Callable[[Whole, Connection], Reply | Awaited | Beginning]


class Connections(web.Server):
    """Makes the connections, bounds their number and their waits, and ends them when the daemon stops."""

    def __init__(self, handler: Handler, serve: WholeHandler, limits: LimitsView) -> None:
        """``serve`` answers requests that came whole, ``handler`` all others."""
        super().__init__(handler, request_factory=self._take)
        self.serve = serve
        self._limits = limits
        self._open: set[Connection] = set()
        self._emptied: asyncio.Event = asyncio.Event()
        self._sweeper: asyncio.TimerHandle | None = None
        self.closing = False

    def __call__(self) -> Connection:
        """A connection for a peer that is just being accepted."""
        return Connection(
            self,
            loop=self._loop,
            keepalive_timeout=_NEVER_S,
            tcp_keepalive=False,
            access_log=None,
            max_line_size=_HEADER_LINE_BYTES,
            max_field_size=_HEADER_LINE_BYTES,
            max_headers=_HEADERS,
            lingering_time=_LINGER_S,
            auto_decompress=False,
        )

    def admit(self, newcomer: Connection) -> None:
        """Take a new connection in; at the limit the one that has waited longest makes room for it."""
        self._open.add(newcomer)
        if self._sweeper is None:
            self._sweep_later()
        if self.closing:
            newcomer.hang_up()
        elif len(self._open) > self._limits.connections:
            self._make_room(newcomer)

    def left(self, connection: Connection) -> None:
        """A connection is over, with the work that was done for it."""
        self._open.discard(connection)
        if not self._open:
            self._emptied.set()

    def sweep(self) -> None:
        """End every connection that has stayed too long in its phase, now and for as long as any is open."""
        now_s = time.monotonic()
        for connection in tuple(self._open):
            limit_s = allowed_s(connection.phase, self._limits)
            if limit_s is not None and now_s - connection.since_s > limit_s:
                connection.expire()
        self._sweeper = None
        if self._open:
            self._sweep_later()

    def part(self) -> None:
        """Hang up on those that are idle, and on the others once they have their answers."""
        self.closing = True
        for connection in tuple(self._open):
            if connection.phase is Phase.IDLE:
                connection.hang_up()

    async def close(self, timeout_s: float) -> None:
        """Part, wait at most that long for those that still work, and cut what is left then."""
        self.part()
        if self._open:
            self._emptied.clear()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._emptied.wait()
            except TimeoutError:
                for connection in tuple(self._open):
                    connection.give_up()
        if self._sweeper is not None:
            self._sweeper.cancel()
        await self.shutdown(_STRAGGLER_S)

    def _sweep_later(self) -> None:
        self._sweeper = self._loop.call_later(sweep_interval_s(self._limits), self.sweep)

    def _make_room(self, newcomer: Connection) -> None:
        victim = first_to_go((one.phase, one.since_s, one) for one in self._open if one is not newcomer)
        if victim is None:
            newcomer.refuse(Busy("every connection is at work", retry_after_s=1.0))
        elif victim.phase is Phase.IDLE:
            victim.hang_up()
        else:
            victim.cut()

    def _take(
        self,
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: asyncio.Task[None],
    ) -> web.BaseRequest:
        if isinstance(protocol, Connection):
            protocol.begin(payload, task)
        return web.BaseRequest(message, payload, protocol, writer, task, self._loop)

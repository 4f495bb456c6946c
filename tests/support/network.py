"""The network between the daemon and a Honcho server, with everything that can happen to a request on it.

A forwarding proxy with the sandbox's fault rules. Because the faults are here and not in the server, the same
tests run against the sandbox and against a real server.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import aiohttp
from aiohttp import web

from honchod.sandbox.fault_spec import parse_faults
from honchod.sandbox.faults import Commit, FaultBook, Reply, Rule, Target
from honchod.sandbox.records import path_ids

T = TypeVar("T")
HOP = frozenset(
    {"host", "connection", "transfer-encoding", "content-length", "keep-alive", "content-encoding"}
)


@dataclass
class Exchange:
    """One request as it crossed the network. Times are monotonic seconds."""

    method: str
    path: str
    workspace: str
    session: str
    authorization: str | None
    body: Any
    at_s: float
    in_flight: int
    """Requests to the same session that were under way when it came, this one included."""
    in_flight_total: int = 0
    raw: bytes = b""
    """Path and body as they came."""
    status: int = 0
    fault: str | None = None
    forwarded: bool = False
    answered_s: float | None = None

    @property
    def sends_messages(self) -> bool:
        """Whether it stores messages."""
        return self.method == "POST" and self.path.endswith("/messages")

    @property
    def contents(self) -> list[str]:
        """The texts of the messages it brought."""
        return [message["content"] for message in self.body["messages"]] if self.sends_messages else []


def widths(sent: list[Exchange]) -> list[int]:
    """For each of these requests, how many of them were under way when it came, itself included."""
    return [sum(other.at_s <= one.at_s < (other.answered_s or math.inf) for other in sent) for one in sent]


@dataclass
class Network:
    """Thread-safe from the test's side."""

    upstream: str
    loop: asyncio.AbstractEventLoop
    faults: FaultBook = field(default_factory=FaultBook)
    exchanges: list[Exchange] = field(default_factory=list)
    port: int = 0
    _in_flight: Counter[tuple[str, str]] = field(default_factory=Counter)
    _runner: web.AppRunner | None = None
    _site: web.TCPSite | None = None
    _client: aiohttp.ClientSession | None = None
    _released: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """What the daemon is told to be Honcho's base URL."""
        return f"http://127.0.0.1:{self.port}"

    def hit(self, spec: str) -> None:
        """Set further faults (the text form of the sandbox)."""
        rules = parse_faults(spec)
        self._ask(lambda: self.faults.add(rules, time.monotonic()))

    def heal(self) -> None:
        """No more faults: hanging requests are cut, the listener is up."""
        self._run(self._heal())

    def take_down(self) -> None:
        """Refuse connections and drop those that are open."""
        self._run(self._down())

    def sent(self, session: str | None = None) -> list[Exchange]:
        """The requests so far that brought messages."""
        found = self._ask(lambda: list(self.exchanges))
        return [one for one in found if one.sends_messages and session in (None, one.session)]

    def seen(self) -> list[Exchange]:
        """All requests so far."""
        return self._ask(lambda: list(self.exchanges))

    def _ask(self, question: Callable[[], T]) -> T:
        async def ask() -> T:
            return question()

        return self._run(ask())

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    async def _heal(self) -> None:
        self.faults.clear()
        if self._released is not None:
            self._released.set()
        self._released = asyncio.Event()
        await self._up()

    async def _up(self) -> None:
        if self._site is None:
            assert self._runner is not None
            self._site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
            await self._site.start()
            self.port = self._runner.addresses[0][1]

    async def _down(self) -> None:
        if self._site is not None:
            await self._site.stop()
            self._site = None
        assert self._runner is not None
        assert self._runner.server is not None
        for connection in list(self._runner.server.connections):
            if connection.transport is not None:
                connection.transport.abort()

    async def start(self) -> None:
        """Listen."""
        self._released = asyncio.Event()
        self._client = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=120), connector=aiohttp.TCPConnector(limit=0)
        )
        server = web.Application(client_max_size=64 << 20)
        server.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(server, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await self._up()

    async def stop(self) -> None:
        """Stop listening and let go of everything."""
        assert self._released is not None
        assert self._runner is not None
        assert self._client is not None
        self._released.set()
        await self._down()
        await self._runner.cleanup()
        await self._client.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        workspace, session = path_ids(request.path)
        self._in_flight[workspace, session] += 1
        self._in_flight["*", "*"] += 1
        body = None
        with suppress(ValueError):
            body = await request.json() if raw else None
        exchange = Exchange(
            request.method,
            request.path,
            workspace,
            session,
            request.headers.get("Authorization"),
            body,
            time.monotonic(),
            self._in_flight[workspace, session],
            self._in_flight["*", "*"],
            raw=request.raw_path.encode() + b"\n" + raw,
        )
        self.exchanges.append(exchange)
        try:
            return await self._answer(request, raw, exchange)
        finally:
            self._in_flight[workspace, session] -= 1
            self._in_flight["*", "*"] -= 1
            exchange.answered_s = time.monotonic()

    async def _answer(self, request: web.Request, raw: bytes, exchange: Exchange) -> web.StreamResponse:
        target = Target(
            exchange.method,
            exchange.path,
            exchange.workspace,
            exchange.session,
            raw.decode("utf-8", "replace"),
        )
        rule = self.faults.pick(target, time.monotonic())
        if rule is None:
            return await self._forward(request, raw, exchange)
        exchange.fault = rule.name()
        await asyncio.sleep(rule.delay_s)
        answer: web.StreamResponse | None = None
        if rule.commit is Commit.NOW:
            answer = await self._forward(request, raw, exchange)
        await asyncio.sleep(rule.delay_after_s)
        if rule.commit is Commit.LATE:
            asyncio.get_running_loop().create_task(self._late(request, raw, exchange, rule.late_s))
        return await self._reply(rule, answer, request, exchange)

    async def _reply(
        self, rule: Rule, answer: web.StreamResponse | None, request: web.Request, exchange: Exchange
    ) -> web.StreamResponse:
        if rule.down_s:
            await self._down()
            asyncio.get_running_loop().call_later(rule.down_s, lambda: asyncio.ensure_future(self._up()))
        elif rule.reply is Reply.REAL and answer is not None:
            return answer
        elif rule.reply is Reply.STATUS:
            exchange.status = rule.status
            return web.Response(
                status=rule.status,
                body=rule.body or '{"detail": "a fault"}',
                headers={**rule.headers, "Content-Type": rule.content_type},
            )
        elif rule.reply is Reply.HANG:
            assert self._released is not None
            await self._released.wait()
        exchange.status = 0
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def _late(self, request: web.Request, raw: bytes, exchange: Exchange, late_s: float) -> None:
        await asyncio.sleep(late_s)
        await self._forward(request, raw, exchange)

    async def _forward(self, request: web.Request, raw: bytes, exchange: Exchange) -> web.Response:
        assert self._client is not None
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP}
        async with self._client.request(
            request.method, self.upstream + request.raw_path, data=raw, headers=headers
        ) as upstream:
            answer = await upstream.read()
        exchange.status = upstream.status
        exchange.forwarded = True
        back = {name: value for name, value in upstream.headers.items() if name.lower() not in HOP}
        return web.Response(status=upstream.status, body=answer, headers=back)


@contextmanager
def running_network(upstream: str) -> Iterator[Network]:
    """A network to that server, in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="network", daemon=True)
    thread.start()
    network = Network(upstream.rstrip("/"), loop)
    asyncio.run_coroutine_threadsafe(network.start(), loop).result(30)
    try:
        yield network
    finally:
        asyncio.run_coroutine_threadsafe(network.stop(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()

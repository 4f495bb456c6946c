"""The loopback listener: bound to this machine only, with few connections, beside the daemon's socket."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from aiohttp import web

from honchod.clock import Clock
from honchod.errors import StartRefused
from honchod.identity.secret import Secret
from honchod.ops.views import UiAccess
from honchod.web import secret_file
from honchod.web.application import application
from honchod.web.backend import Backend
from honchod.web.history import INTERVAL_S, History, Sample
from honchod.web.token import TokenFile

_log = structlog.get_logger("honchod.web")

CONNECTIONS: Final = 64
"""More than a browser and a scraper need. Whoever is on this machine can connect: the daemon's descriptors
are for its socket."""

_BACKLOG: Final = 32
_STOP_S: Final = 1.0
_SETTINGS: Final = "choose another [http] listen"


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Host and port, where the token is or will be, and where the secret of Honcho's webhooks is, if any."""

    address: tuple[str, int]
    token_file: Path
    webhook_secret_file: Path | None


class PageServer:
    """Serves the page from ``start`` to ``close``."""

    def __init__(
        self,
        backend: Backend,
        sock: socket.socket,
        token: TokenFile,
        webhook_secret: Secret | None,
        clock: Clock,
    ) -> None:
        self._backend = backend
        self._sock = sock
        self._token = token
        self._webhook_secret = webhook_secret
        self._clock = clock
        self._history = History()
        self.url = _url(sock)

    @classmethod
    def bound(cls, backend: Backend, settings: PageSettings, clock: Clock) -> PageServer:
        """Take the address, read or make the secrets. Raises StartRefused, with what to do."""
        token = TokenFile.open(settings.token_file)
        secret = _webhook_secret(settings.webhook_secret_file)
        return cls(backend, bind(settings.address), token, secret, clock)

    async def start(self) -> None:
        """Serve."""
        app = application(self._backend, self._token, self._webhook_secret, self._history, self._clock)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, sock=self._sock, backlog=_BACKLOG)
        self._sampling = asyncio.create_task(self._sample())
        _log.info("web.listening", url=self.url)

    def access(self, *, again: bool) -> UiAccess:
        """Where the page is. The token comes along the first time after it was made, and when asked again."""
        token = self._token.first_look()
        if again:
            token = self._token.token
        return UiAccess(
            url=self.url,
            token_file=str(self._token.path),
            token=None if token is None else token.reveal(),
        )

    async def close(self) -> None:
        """Take no more connections, and cut those that are left after a moment."""
        self._sampling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._sampling
        self._server.close()
        assert self._runner.server is not None
        await self._runner.server.shutdown(_STOP_S)
        await self._runner.cleanup()

    def _connection(self) -> web.RequestHandler:
        """A connection for a peer that is being accepted; at the bound the oldest one makes room."""
        server = self._runner.server
        assert server is not None
        for handler in server.connections[: max(0, len(server.connections) - CONNECTIONS + 1)]:
            if handler.transport is not None:
                handler.transport.abort()
        return server()

    async def _sample(self) -> None:
        while True:
            try:
                queue = (await self._backend.status()).queue
            except Exception as error:
                _log.error("web.sample_failed", error=type(error).__name__)
            else:
                self._history.add(Sample(self._clock.monotonic_s(), queue.pending, queue.delivered))
            await asyncio.sleep(INTERVAL_S)


def bind(address: tuple[str, int]) -> socket.socket:
    """A socket on loopback. Raises StartRefused for any other address, or when it is taken.

    ``localhost`` is 127.0.0.1, whatever the machine's name service thinks.
    """
    host, port = address
    host = "127.0.0.1" if host == "localhost" else host
    if not ipaddress.ip_address(host).is_loopback:
        raise StartRefused(f"cannot listen on {host}: it is not a loopback address; {_SETTINGS}")
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setblocking(False)
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise StartRefused(f"cannot listen on {host}, port {port}: {error.strerror}; {_SETTINGS}") from error
    return sock


def _webhook_secret(path: Path | None) -> Secret | None:
    try:
        return None if path is None else secret_file.read(path)
    except OSError as error:
        raise StartRefused(f"the webhook secret {path} cannot be read: {error.strerror}") from error


def _url(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

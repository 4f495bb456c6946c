"""The front door as the daemon uses it: listen, refuse intake, stop."""

from __future__ import annotations

import asyncio

import structlog

from honchod.api.backend import Backend
from honchod.api.callers import Access
from honchod.api.connections import Connections
from honchod.api.door import Door
from honchod.api.routes import ROUTES
from honchod.api.sockets import BACKLOG, Listener
from honchod.api.visits import Observe
from honchod.ops.views import LimitsView

_log = structlog.get_logger(__name__)


class FrontDoor:
    """Serves a backend on a Unix socket.

    The order of a stop: ``refuse_intake`` at once, then whatever the daemon has to finish while other calls
    still go through, then ``stop``.
    """

    def __init__(
        self, backend: Backend, *, limits: LimitsView, access: Access, observe: Observe | None = None
    ) -> None:
        """``observe`` is told of every answer."""
        self._door = Door(backend, limits=limits, access=access, routes=ROUTES, observe=observe)
        self._limits = limits
        self._listener: Listener | None = None
        self._connections: Connections | None = None
        self._server: asyncio.AbstractServer | None = None

    async def start(self, listener: Listener) -> None:
        """Serve on a listening socket (``sockets.bind`` or ``sockets.adopt``), which is the door's now."""
        self._listener = listener
        self._connections = Connections(self._door.handle, self._door.serve, self._limits)
        self._server = await asyncio.get_running_loop().create_unix_server(
            self._connections, sock=listener.sock, backlog=BACKLOG
        )
        self._connections.sweep()
        _log.info("socket.listening", socket=str(listener.path))

    def allow(self, access: Access) -> None:
        """Replace the access rules, for open connections too."""
        self._door.access = access

    def refuse_intake(self) -> None:
        """Answer writes with 503 ``draining`` from now on; other calls go on.

        Where the socket outlives the daemon, nobody new is taken in, and idle connections are closed: they
        are better off waiting for the next daemon.
        """
        self._door.draining = True
        if self._listener is not None and self._listener.outlives_us:
            if self._server is not None:
                self._server.close()
            if self._connections is not None:
                self._connections.part()

    async def stop(self, timeout_s: float) -> None:
        """Take no more connections, remove the socket file if it is still ours, close idle connections, and
        wait at most ``timeout_s`` for the requests in flight; what is left then is cut.
        """
        self.refuse_intake()
        if self._server is None or self._listener is None or self._connections is None:
            return
        self._listener.remove()
        self._server.close()
        await self._connections.close(timeout_s)
        self._server = None

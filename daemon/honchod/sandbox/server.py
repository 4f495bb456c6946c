"""The sandbox as an object: a small Honcho v3 server inside an event loop."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aiohttp import web

from .auth import ApiKeys
from .calls import Behaviour
from .core import Core
from .exchange import Exchange
from .fault_spec import parse_faults
from .faults import Rule
from .model import Conclusion, PeerConfig, Session, StoredMessage
from .records import RequestRecord

_MAX_BODY_BYTES: Final = 64 * 1024 * 1024
_SHUTDOWN_S: Final = 0.05


class Sandbox:
    """A Honcho v3 server in memory, for tests, demos and offline trials.

    ``api_key`` is a key that may do everything; ``api_keys`` maps further keys to the workspace each is
    restricted to (``None``: not restricted). Without keys everybody may do everything. ``faults`` is a
    specification (see ``fault_spec``) or a list of rules. With ``state`` the data survives in that file.
    ``latency_s`` is added to every request.

    It must be started, stopped and asked in one event loop; ``running_sandbox`` is for everyone else.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        api_key: str | None = None,
        api_keys: ApiKeys | None = None,
        faults: str | Sequence[Rule] | None = None,
        state: str | Path | None = None,
        latency_s: float = 0.0,
        behaviour: Behaviour | None = None,
    ) -> None:
        self._host = host
        self._port = port
        keys = dict(api_keys or {})
        if api_key is not None:
            keys[api_key] = None
        self._core: Final = Core(behaviour or Behaviour(), keys, Path(state) if state is not None else None)
        self._exchange: Final = Exchange(self._core, latency_s=latency_s, take_down=self.take_down)
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self._reserved: socket.socket | None = None
        self._rise: asyncio.Task[None] | None = None
        if faults is not None:
            self.add_faults(faults)

    async def start(self) -> None:
        """Listen. Raises ``OSError`` when the port is taken."""
        app = web.Application(client_max_size=_MAX_BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._exchange.handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_S)
        await self._runner.setup()
        await self._listen()

    async def stop(self) -> None:
        """Close everything. Requests that hang are ended, late commits are given up."""
        if self._rise is not None:
            self._rise.cancel()
        self._exchange.cancel_late_commits()
        if self._reserved is not None:
            self._reserved.close()
        if self._runner is not None:
            self._drop_connections()
            await self._runner.cleanup()
        self._core.close()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._port

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    async def take_down(self, seconds: float | None = None) -> None:
        """Refuse connections and drop those that are open, for so long or until ``bring_up``."""
        if self._site is None:
            return
        await self._site.stop()
        self._site = None
        # Bound but not listening: connections are refused, and the port stays ours.
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        self._reserved = socket.socket(family, socket.SOCK_STREAM)
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind((self._host, self._port))
        self._drop_connections()
        if seconds is not None:
            self._rise = asyncio.create_task(self._rise_after(seconds))

    async def bring_up(self) -> None:
        """Listen again after ``take_down``, on the same port."""
        if self._reserved is None:
            return
        self._reserved.close()
        self._reserved = None
        await self._listen()

    def add_faults(self, faults: str | Sequence[Rule]) -> None:
        """Set further fault rules; raises ``SpecError`` for a text that is none."""
        rules = parse_faults(faults) if isinstance(faults, str) else faults
        self._core.faults.add(rules, time.monotonic())

    def clear_faults(self) -> None:
        """Unset every fault rule."""
        self._core.faults.clear()

    def set_api_keys(self, api_keys: ApiKeys) -> None:
        """From now on these keys are good, and no others."""
        self._core.api_keys = dict(api_keys)

    def reset(self) -> None:
        """Forget state, faults and log."""
        self._core.reset()

    def messages(self, workspace: str, session: str) -> list[StoredMessage]:
        """The messages of a session in storage order; none when it does not exist."""
        state = self._core.store.session(workspace, session)
        return list(state.messages) if state else []

    def sessions(self, workspace: str) -> list[Session]:
        """The sessions of a workspace in order of creation."""
        state = self._core.store.workspaces.get(workspace)
        return [session.row for session in state.sessions.values()] if state else []

    def members(self, workspace: str, session: str) -> dict[str, PeerConfig]:
        """The active peers of a session with their flags."""
        state = self._core.store.session(workspace, session)
        return {peer: member.config for peer, member in state.active_members()} if state else {}

    def scope_sessions(self, workspace: str, scope: str) -> list[str]:
        """The ids of the sessions in a scope; none when it does not exist."""
        state = self._core.store.workspaces.get(workspace)
        return list(state.scopes[scope].sessions) if state and scope in state.scopes else []

    def conclusions(self, workspace: str) -> list[Conclusion]:
        """The conclusions of a workspace, oldest first."""
        self._core.settle()
        state = self._core.store.workspaces.get(workspace)
        return [held.row for held in state.conclusions.values()] if state else []

    def requests(self) -> list[RequestRecord]:
        """The log of requests, oldest first."""
        return self._core.log.records()

    async def _listen(self) -> None:
        assert self._runner is not None
        self._site = web.TCPSite(self._runner, self._host, self._port)
        await self._site.start()
        self._port = self._runner.addresses[0][1]

    async def _rise_after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.bring_up()

    def _drop_connections(self) -> None:
        server = self._runner.server if self._runner is not None else None
        for connection in list(server.connections) if server is not None else ():
            if connection.transport is not None:
                connection.transport.abort()

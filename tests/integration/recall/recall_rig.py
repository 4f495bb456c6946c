"""Recall with a real database and a real server, without the rest of the daemon."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from honchod.clock import SystemClock
from honchod.delivery.circuit import Circuit
from honchod.delivery.retry import Policy
from honchod.delivery.routes import routes
from honchod.gateway.pool import GatewayPool
from honchod.identity import config
from honchod.identity.place import Place, Places
from honchod.outbox.store import Outbox
from honchod.outbox.values import Bounds, LaneKey
from honchod.recall.directory import Directory
from honchod.recall.fetch import SearchBounds
from honchod.recall.recaller import Recaller, RecallSettings
from honchod.recall.requests import RecallAnswer, RecallRequest, SessionQuery
from support.network import Exchange, Network

LANE = LaneKey("h", "w", "s")


class Rig:
    """One recaller of one host; everything it does in the background can be waited for."""

    def __init__(self, network: Network, directory: Path, *, ttl_s: float = 120.0, **keys: Any) -> None:
        self.network = network
        self.circuit = Circuit(4)
        clock = SystemClock()
        block = {"baseUrl": network.url, "workspace": "w", "peerName": "ann", "aiPeer": "bot", **keys}
        self.hosts = config.parse({"hosts": {"h": block}}, {}, read_key=str, credential=None)
        self.outbox = Outbox.open(directory, bounds=Bounds(), clock=clock)
        self.pool = GatewayPool(timeout_s=5, rate=lambda _: 0.0, clock=clock)
        self.directory = Directory(Places({}, str), self.hosts, routes(self.hosts, b"salt"))
        self.recaller = Recaller(
            self.outbox.recall,
            self.pool,
            self.directory,
            RecallSettings(ttl_s, 100, SearchBounds(8, 20), Policy()),
            circuit_of=lambda _: self.circuit,
            redact=None,
            salt=b"salt",
            clock=clock,
        )

    async def __aenter__(self) -> Rig:
        await self.recaller.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.recaller.close()
        await self.pool.close()
        await self.outbox.close()

    @property
    def place(self) -> Place:
        """The session ``s``."""
        return self.directory.place(SessionQuery(host="h", session="s"))

    async def recall(self, **more: Any) -> RecallAnswer:
        """Recall in the session, as the socket does."""
        request = RecallRequest(host="h", session="s", **more)
        return self.recaller.again(request) or await self.recaller.recall(request)

    async def turn(self, text: str | None = "What should I see in Lisbon?") -> None:
        """A turn, and all that it brings about."""
        self.recaller.spoke(self.place, peer="ann", said=text, turn_ended=True)
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is under way."""
        prefetcher = self.recaller._prefetcher
        async with asyncio.timeout(20):
            while tasks := (*prefetcher._tasks, *self.recaller._upstream._running, *self.recaller._starts):
                await asyncio.gather(*tasks, return_exceptions=True)

    def asked(self, ending: str) -> list[Exchange]:
        """The requests that went out so far, by the end of their path."""
        return [one for one in self.network.seen() if one.path.endswith(ending)]

"""The gateways in use: one per destination and workspace, shared by all who call Honcho, paced together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from honchod.clock import Clock
from honchod.gateway.pacing import Pacer
from honchod.gateway.values import Endpoint

if TYPE_CHECKING:
    from honchod.gateway.gateway import Gateway


def _load_sdk() -> None:
    import honchod.gateway.gateway  # noqa: F401


class GatewayPool:
    """Makes gateways when they are first asked for. ``rate`` is requests per second to a URL; 0: no limit."""

    def __init__(self, *, timeout_s: float, rate: Callable[[str], float], clock: Clock) -> None:
        self.timeout_s = timeout_s
        self.rate = rate
        self._clock = clock
        self._gateways: dict[tuple[str, str], Gateway] = {}
        self._pacers: dict[str, Pacer] = {}
        self._closed_requests = 0
        self._loaded: asyncio.Future[None] | None = None

    def load(self) -> asyncio.Future[None]:
        """Import the SDK in a thread: it takes as long as everything else together, and nobody waits for it
        but who needs it.
        """
        if self._loaded is None:
            self._loaded = asyncio.get_running_loop().run_in_executor(None, _load_sdk)
        return self._loaded

    async def get(self, destination: str, endpoint: Endpoint) -> Gateway:
        """The gateway to this workspace. ``destination`` names URL and key."""
        await asyncio.shield(self.load())
        key = (destination, endpoint.workspace)
        gateway = self._gateways.get(key)
        if gateway is None:
            from honchod.gateway.gateway import Gateway

            gateway = self._gateways[key] = Gateway(
                endpoint, timeout_s=self.timeout_s, before=self._pacer(destination, endpoint.url).turn
            )
        return gateway

    async def keep_only(self, destinations: Collection[str]) -> None:
        """Close the gateways of all other destinations. Nothing may be in flight on them."""
        for key in [key for key in self._gateways if key[0] not in destinations]:
            gateway = self._gateways.pop(key)
            self._closed_requests += gateway.requests
            await gateway.close()

    async def close(self) -> None:
        """Close all connections."""
        await self.load()
        await self.keep_only(())

    @property
    def requests(self) -> int:
        """Calls made since the start."""
        return self._closed_requests + sum(gateway.requests for gateway in self._gateways.values())

    def _pacer(self, destination: str, url: str) -> Pacer:
        pacer = self._pacers.get(destination)
        if pacer is None:
            pacer = self._pacers[destination] = Pacer(lambda: self.rate(url), self._clock)
        return pacer

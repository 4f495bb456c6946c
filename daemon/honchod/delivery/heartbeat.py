"""A lease is held for as long as its delivery is alive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from honchod.errors import LeaseLost

log = structlog.get_logger("honchod.delivery")


async def beat(
    renew: Callable[[], Awaitable[None]], *, every_s: float, lost: Callable[[], object], lane_id: int
) -> None:
    """Renew the lease of a lane until this is cancelled; call ``lost`` once it was taken away."""
    while True:
        await asyncio.sleep(every_s)
        try:
            await renew()
        except LeaseLost:
            lost()
            return
        except Exception as error:
            # No room on the disk, perhaps: the delivery is alive, and says so again.
            log.error("renewal.failed", lane=lane_id, error=type(error).__name__)

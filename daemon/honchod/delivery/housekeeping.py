"""Housekeeping: what the outbox needs done now and then, whether anything is delivered or not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from honchod.delivery.retry import Policy
from honchod.outbox.store import Outbox
from honchod.outbox.values import LeaseTerms

log = structlog.get_logger("honchod.delivery")

HOUSEKEEPING_S: Final = 30.0
HOUSEKEEPING_MIN_S: Final = 1.0


async def keep_house(
    outbox: Outbox,
    *,
    policy: Callable[[], Policy],
    terms: Callable[[], LeaseTerms],
    reclaim: Callable[[], Awaitable[None]],
    done: Callable[[], None],
) -> None:
    """Do a round every `HOUSEKEEPING_S`, until it is cancelled; ``done`` is called after each. Where no
    backoff is so long, rounds come more often: a clock that jumped holds nothing up for longer than one.

    ``reclaim`` takes back the leases that nobody holds. A round that fails is logged, and the next one comes
    all the same.
    """
    while True:
        present = policy()
        try:
            await outbox.maintain(
                max_age_ms=terms().max_age_ms,
                longest_wait_ms=present.longest_wait_ms,
                settle_delay_ms=present.settle_delay_ms,
            )
            await reclaim()
        except Exception as error:
            log.error("housekeeping.failed", error=type(error).__name__)
        done()
        await asyncio.sleep(min(HOUSEKEEPING_S, max(HOUSEKEEPING_MIN_S, present.backoff_cap_s)))

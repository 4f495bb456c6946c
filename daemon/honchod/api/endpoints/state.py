"""How the daemon is."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST

from honchod.api.route import Answer, Call, Nothing
from honchod.ops.views import Ready

METRICS_MEDIA_TYPE: Final = CONTENT_TYPE_LATEST


class StatusQuery(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which lanes to show: those with the most waiting events, or those that have waited longest."""

    lanes: Literal["longest", "oldest"] = "longest"


async def show_health(call: Call[Nothing, Nothing]) -> Answer:
    """Tell whether the daemon makes progress: 503 names what is stuck."""
    health = call.backend.health()
    return Answer.of(health, 200 if health.status == "ok" else 503)


async def show_readiness(call: Call[Nothing, Nothing]) -> Answer:
    """Tell whether the database is open and migrated: 503 until then."""
    ready = call.backend.ready()
    return Answer.of(Ready(ready), 200 if ready else 503)


async def show_info(call: Call[Nothing, Nothing]) -> Answer:
    """Tell versions, limits, socket and features."""
    return Answer.of(call.backend.info())


async def show_status(call: Call[Nothing, StatusQuery]) -> Answer:
    """Show the queue, the delivery and the destinations; never content or keys."""
    return Answer.of(await call.backend.status(oldest=call.query.lanes == "oldest"))


async def show_metrics(call: Call[Nothing, Nothing]) -> Answer:
    """The metrics in Prometheus's text format."""
    return Answer(await call.backend.metrics(), media_type=METRICS_MEDIA_TYPE)

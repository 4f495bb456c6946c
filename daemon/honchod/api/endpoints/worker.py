"""The delivery worker, the notices, the probes and the configuration."""

from __future__ import annotations

from honchod.api.route import Answer, Call, Nothing
from honchod.errors import ConfigError, Unprocessable
from honchod.ops.views import DrainRequest


async def acknowledge_notices(call: Call[Nothing, Nothing]) -> Answer:
    """Take the notices of the status as read, so that it shows them no more."""
    return Answer.of(await call.backend.acknowledge())


async def wake_worker(call: Call[Nothing, Nothing]) -> Answer:
    """Make everything that waits due now."""
    return Answer.of(await call.backend.wake())


async def pause_worker(call: Call[Nothing, Nothing]) -> Answer:
    """Stop delivering until resumed; intake goes on."""
    return Answer.of(await call.backend.pause())


async def resume_worker(call: Call[Nothing, Nothing]) -> Answer:
    """Deliver again."""
    return Answer.of(await call.backend.resume())


async def drain_worker(call: Call[DrainRequest, Nothing]) -> Answer:
    """Wait for the queue to become empty."""
    return Answer.of(await call.backend.drain(call.body.timeout_s))


async def run_checks(call: Call[Nothing, Nothing]) -> Answer:
    """Probe what the daemon depends on."""
    return Answer.of(await call.backend.checks())


async def reload_configuration(call: Call[Nothing, Nothing]) -> Answer:
    """Validate the configuration, then swap it; a bad file changes nothing."""
    try:
        return Answer.of(await call.backend.reload())
    except ConfigError as error:
        raise Unprocessable(f"the configuration is not used: {error}") from error

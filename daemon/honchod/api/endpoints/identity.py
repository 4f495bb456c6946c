"""Persona and memory files."""

from __future__ import annotations

from honchod.api.route import Answer, Call, Nothing
from honchod.capture.seed_requests import SeedRequest


async def seed_identity(call: Call[SeedRequest, Nothing]) -> Answer:
    """Take a persona file in as a message of the AI peer, once; answered when it is on disk."""
    return Answer.of(
        await call.backend.seeds.identity(call.body, uid=call.uid, operator=call.operator), status=202
    )


async def import_file(call: Call[SeedRequest, Nothing]) -> Answer:
    """Take a memory file in as a file of the declared user, once; answered when it is on disk."""
    return Answer.of(
        await call.backend.seeds.file(call.body, uid=call.uid, operator=call.operator), status=202
    )

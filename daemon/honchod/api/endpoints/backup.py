"""Backups."""

from __future__ import annotations

from honchod.api.route import Answer, Call, Nothing
from honchod.ops.views import BackupRequest


async def make_backup(call: Call[BackupRequest, Nothing]) -> Answer:
    """Copy the queue, as it is now, to a file that is not there yet, and verify the copy."""
    return Answer.of(await call.backend.backup(call.body.path))

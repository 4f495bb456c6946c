"""What a status tells an operator in words: what was saved, what is missing, what is full. Never a path."""

from __future__ import annotations

from honchod.outbox.notices import Salvaged
from honchod.outbox.store import Outbox

FULL = "the disk is full: nothing new is taken in until there is room; what waits is delivered"


async def notices(outbox: Outbox) -> list[str]:
    """What is wrong with the outbox now, and what was and nobody has acknowledged."""
    present = [] if outbox.takes else [FULL]
    return [*present, *(sentence(notice) for notice in await outbox.notices())]


def sentence(notice: Salvaged) -> str:
    """A notice in words."""
    if notice.missing is None:
        missing = "nobody can tell how many are missing"
    else:
        missing = f"{notice.missing} are missing"
    return (
        f"the database was damaged and has been replaced: {notice.events} rows were saved, "
        f"{notice.unreadable} that waited are unreadable and stand in the dead letters, {missing}; "
        f"the damaged file is kept as {notice.kept_as}; to acknowledge: honchod ack"
    )

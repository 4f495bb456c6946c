"""What a status tells an operator in words: what was saved, what is missing, what is full. Never a path."""

from __future__ import annotations

from honchod.drop.contents import DropBox
from honchod.outbox.notices import Salvaged
from honchod.outbox.store import Outbox

FULL = "the disk is full: nothing new is taken in until there is room; what waits is delivered"


async def notices(outbox: Outbox) -> list[str]:
    """What is wrong with the outbox now, and what was and nobody has acknowledged."""
    present = [] if outbox.takes else [FULL]
    return [*present, *(sentence(notice) for notice in await outbox.notices())]


def of_drop_box(drop: DropBox) -> list[str]:
    """What is wrong with the drop box now."""
    found = []
    if drop.bad:
        found.append(
            f"{drop.bad} requests of the drop box could not be taken in and stand in bad/ there: "
            "the log names each with its reason (drop.bad)"
        )
    if drop.trouble == "unusable":
        found.append("the drop box cannot be opened or changed, or is another user's: see honchod doctor")
    elif drop.trouble is not None:
        found.append(f"{drop.waiting} requests wait in the drop box and are not taken in: {drop.trouble}")
    return found


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

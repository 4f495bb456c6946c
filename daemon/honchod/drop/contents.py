"""What is in the drop box, as status shows it."""

from __future__ import annotations

from typing import Literal

import msgspec

Trouble = Literal["unusable", "refused", "failed"]
"""Why what waits is not taken in: the box cannot be opened or changed, or is another user's; the outbox takes
nothing now; something broke, and the log names it."""


class DropBox(msgspec.Struct, frozen=True):
    """The drop box of the daemon's user as it was last seen: requests that wait, and those that can never be
    taken in.
    """

    waiting: int = 0
    bad: int = 0
    trouble: Trouble | None = None

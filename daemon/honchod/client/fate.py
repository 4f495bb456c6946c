"""What becomes of a file of the drop box that the daemon did not take in. Pure."""

from __future__ import annotations

from enum import Enum

ID_CONFLICT = "id_conflict"

_AGAIN = frozenset({403, 408, 429})
"""What is wrong has nothing to do with the request itself."""


class Fate(Enum):
    """What becomes of it."""

    TAKEN = "taken"
    """The daemon has it."""
    BAD = "bad"
    """It can never be taken in as it is."""
    LATER = "later"
    """It stays where it is, and all that is behind it."""


def fate_of(status: int, code: str, *, tried: bool) -> Fate:
    """What becomes of a file whose request was answered with a problem.

    ``tried``: the request went out once before, and its answer was lost. It may have been stored then, with
    secrets hidden that only the daemon's own patterns know: the same ids with other content are then the same
    messages.
    """
    if code == ID_CONFLICT and tried:
        return Fate.TAKEN
    if 400 <= status < 500 and status not in _AGAIN:
        return Fate.BAD
    return Fate.LATER

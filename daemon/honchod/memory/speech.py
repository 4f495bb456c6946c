"""Cutting a stream into units that can be made harmless one by one. Pure.

A tag, the fence's name or a key could stand across two pieces. So what is passed on ends at white space, and
not inside anything that may still turn out to be one of those.
"""

from __future__ import annotations

import re
from typing import Final

UNIT_CHARS: Final = 80
"""A unit has at least so many characters, unless it is the last."""
HELD_CHARS: Final = 4_096
"""An opening that is not closed within this many is none."""

_OPEN: Final = re.compile(r"<[^<>]*\Z|memory\W*\Z|bearer\W*\Z", re.IGNORECASE)
_BEGIN: Final = "-----BEGIN"
_END: Final = re.compile(r"-----END[^-]*-----")


class Units:
    """Collects pieces and gives units: text and the white space after it."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> tuple[str, str] | None:
        """The next unit, once one is complete."""
        self._held += piece
        if len(self._held) < UNIT_CHARS:
            return None
        at = _last_space(self._held)
        if at is None or (_is_open(self._held[:at]) and len(self._held) < HELD_CHARS):
            return None
        whole, self._held = self._held[:at], self._held[at:]
        return _split(whole)

    def rest(self) -> tuple[str, str] | None:
        """What is left at the end, if anything."""
        whole, self._held = self._held, ""
        return _split(whole) if whole else None


def _last_space(text: str) -> int | None:
    """Where the text after the last white space begins."""
    for at in range(len(text), 0, -1):
        if text[at - 1].isspace():
            return at
    return len(text) if len(text) >= HELD_CHARS else None


def _is_open(text: str) -> bool:
    return bool(_OPEN.search(text)) or text.count(_BEGIN) > len(_END.findall(text))


def _split(whole: str) -> tuple[str, str]:
    text = whole.rstrip()
    gap = whole[len(text) :]
    return text, "\n" * min(2, gap.count("\n")) or (" " if gap else "")

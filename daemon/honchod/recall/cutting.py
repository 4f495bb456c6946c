"""Shortening text where a reader would: at a word boundary. Pure."""

from __future__ import annotations

import unicodedata
from typing import Final

ELLIPSIS: Final = "…"
WORD_CHARS: Final = 64
"""A longer run without white space is no word (Chinese, a URL, base64) and is cut inside."""

_JOINERS: Final = frozenset("\u200c\u200d")
_EXTENDING: Final = frozenset({"Mn", "Me", "Mc"})
_SKIN_TONES: Final = range(0x1F3FB, 0x1F400)


def cut(text: str, chars: int) -> str:
    """``text`` in at most ``chars`` characters, with an ellipsis where something went.

    It ends after a whole word, and never inside what a reader sees as one character. Empty when not even
    one word or character fits beside the ellipsis.
    """
    if len(text) <= chars:
        return text
    room = chars - len(ELLIPSIS)
    if room <= 0:
        return ""
    kept = text[: _boundary(text, room)].rstrip()
    return kept + ELLIPSIS if kept else ""


def _boundary(text: str, room: int) -> int:
    """Where to cut: at ``room``, or a word earlier."""
    if text[room].isspace():
        return room
    nearest = max(0, room - WORD_CHARS)
    for at in range(room, nearest, -1):
        if text[at - 1].isspace():
            return at
    is_in_first_word = nearest == 0 and text[room - 1].isascii() and text[room].isascii()
    return 0 if is_in_first_word else _character_start(text, room)


def _character_start(text: str, at: int) -> int:
    while at > 0 and _continues(text, at):
        at -= 1
    return at


def _continues(text: str, at: int) -> bool:
    char = text[at]
    return (
        unicodedata.category(char) in _EXTENDING
        or char in _JOINERS
        or text[at - 1] in _JOINERS
        or ord(char) in _SKIN_TONES
    )

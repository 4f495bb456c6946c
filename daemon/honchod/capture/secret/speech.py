"""Plain speech: texts that no finder has to look through, as their characters alone tell.

Whatever stands before it, a short word without a digit is no secret to any finder unless a sign between the
two (``=``, ``:``, ``>``) or a flag (``--password``) says so. That leaves three things that words alone can
give away: a long word, a line of a netrc file (``login``), and credentials behind ``basic``. Much of what
people and models say to each other has none of it, and then one look at its bytes replaces all others.
"""

from __future__ import annotations

import re
import string
from typing import Final

from honchod.capture.secret.words import WHITE_SPACE, has_long_word

_LONG_CHARS: Final = 13
"""From here on a word may look random by its capitals alone, or be the key of a provider."""

_LETTERS: Final = string.ascii_letters.encode()
_MARKS: Final = b".,;!?'\"`()*/&"
_BEYOND_ASCII: Final = bytes(range(0x80, 0x100))
_HYPHEN: Final = ord("-")
_TELLING: Final = 0


def _folding() -> bytes:
    """Letters in lower case, what separates them as a space, what may tell of a secret as `_TELLING`."""
    table = bytearray([_TELLING] * 256)
    for plain in (WHITE_SPACE, _MARKS, _BEYOND_ASCII):
        for byte in plain:
            table[byte] = 0x20
    for byte in _LETTERS + b"_-":
        table[byte] = ord(chr(byte).lower())
    return bytes(table)


_FOLDED: Final = _folding()
_ASCII: Final = bytes(range(0x80))
_TELLING_BEYOND_ASCII: Final = re.compile("[\\d：→\u0130\u212a]")
"""Digits, the signs that ``assignments`` knows, and what becomes an ASCII letter in lower case."""


def is_plain_speech(data: bytes) -> bool:
    """Whether no finder can find anything in a text (UTF-8). False means only that they have to look.

    Texts that are plain are so together too, one a line.
    """
    folded = data.translate(_FOLDED)
    # A byte is looked for as a number, and more than one with find: `in` first raises for them inside.
    if _TELLING in folded or folded.find(b"login") >= 0 or folded.find(b"basic") >= 0:
        return False
    if _HYPHEN in folded and not _joins_words(folded):
        return False
    if has_long_word(data, _LONG_CHARS):
        return False
    return data.isascii() or not _TELLING_BEYOND_ASCII.search(data.translate(None, _ASCII).decode())


def _joins_words(folded: bytes) -> bool:
    """Whether every hyphen stands inside a word. Else it may begin a flag, or several the line of a key."""
    return not (folded.startswith(b"-") or folded.find(b" -") >= 0 or folded.find(b"--") >= 0)

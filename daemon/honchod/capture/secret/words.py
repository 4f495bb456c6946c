"""Words of a text, found quickly: by their length alone, or by the letters that are rare in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

WHITE_SPACE: Final = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
"""What separates words in ASCII."""

_SHAPES: Final = bytes(0x20 if byte in WHITE_SPACE else 0x78 for byte in range(256))
_NOT_FIRST_BYTES: Final = bytes(range(0x80, 0xC0))
_FREQUENT_FIRST: Final = " 0123456789etaoinshrdlucmwfgypbvkxjqz"


def has_long_word(data: bytes, chars: int) -> bool:
    """Whether the UTF-8 text may have a word of ``chars`` characters: False is certain, True is not.

    White space beyond ASCII is taken for part of a word.
    """
    return data.translate(_SHAPES, _NOT_FIRST_BYTES).find(b"x" * chars) >= 0


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of the words, wherever they stand.

    An alternation is tried at each of the letters it can begin with. So this one begins with the rarest
    letter of each word and looks at the rest from there: half as long a search, in ordinary text.
    """
    return re.compile("|".join(map(_from_rarest_letter, words)))


def _from_rarest_letter(word: str) -> str:
    at = max(range(len(word)), key=lambda at: _rareness(word[at]))
    before = rf"(?<={re.escape(word[: at + 1])})" if at else ""
    return re.escape(word[at]) + before + re.escape(word[at + 1 :])


def _rareness(letter: str) -> int:
    return _FREQUENT_FIRST.find(letter) % (len(_FREQUENT_FIRST) + 1)

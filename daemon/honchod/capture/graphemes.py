"""Combined characters: which code points a reader sees as one.

The rules are those of Unicode's extended grapheme clusters (UAX #29) that decide about a cut: line breaks,
combining marks, variation selectors, emoji with modifiers or joined by ZWJ, flags, Hangul syllables.
"""

from __future__ import annotations

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
_ZERO_WIDTH_NON_JOINER = "\u200c"
_EXTENDING_CATEGORIES = frozenset({"Mn", "Me", "Mc"})
_LAST_PLAIN = "\u02ff"
"""Up to here nothing combines but CR LF."""


def is_inside_character(text: str, at: int, start: int) -> bool:
    """Whether a cut before ``text[at]`` would split what a reader sees as one character.

    ``start`` is where a character is known to begin; flags are counted from there.
    """
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after <= _LAST_PLAIN:
        return before == "\r" and after == "\n"
    return (
        _extends(after)
        or (before == _ZERO_WIDTH_JOINER and not after.isspace())
        or _is_second_half_of_flag(text, at, start)
        or _is_inside_syllable(before, after)
    )


def _extends(char: str) -> bool:
    return (
        unicodedata.category(char) in _EXTENDING_CATEGORIES
        or char in {_ZERO_WIDTH_JOINER, _ZERO_WIDTH_NON_JOINER}
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\uff9e" <= char <= "\uff9f"
    )


def _is_second_half_of_flag(text: str, at: int, start: int) -> bool:
    """Flags are pairs of regional indicators: a cut after an odd number of them splits one."""
    if not _is_regional_indicator(text[at]):
        return False
    first = at
    while first > start and _is_regional_indicator(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


def _is_regional_indicator(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_inside_syllable(before: str, after: str) -> bool:
    """Hangul: leading consonant, vowel and trailing consonant make one syllable."""
    match _hangul(before):
        case "L":
            return _hangul(after) in {"L", "V", "LV", "LVT"}
        case "V" | "LV":
            return _hangul(after) in {"V", "T"}
        case "T" | "LVT":
            return _hangul(after) == "T"
    return False


def _hangul(char: str) -> str:
    if "\u1100" <= char <= "\u115f" or "\ua960" <= char <= "\ua97c":
        return "L"
    if "\u1160" <= char <= "\u11a7" or "\ud7b0" <= char <= "\ud7c6":
        return "V"
    if "\u11a8" <= char <= "\u11ff" or "\ud7cb" <= char <= "\ud7fb":
        return "T"
    if "\uac00" <= char <= "\ud7a3":
        return "LV" if (ord(char) - 0xAC00) % 28 == 0 else "LVT"
    return ""

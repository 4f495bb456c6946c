"""Cut long content into pieces that Honcho takes, where a reader would cut it.

A piece ends at a paragraph, a sentence or a word if one of them ends in its last 70 %, in this order and
the latest of its kind; else as late as possible, but never inside a combined character.
"""

from __future__ import annotations

import re

from honchod.capture.graphemes import is_inside_character

CONTINUED = "[continued] "
"""What every piece but the first begins with."""

_EARLIEST_CUT = 0.3
_PARAGRAPH = re.compile(r"\n[ \t\r\n]{0,64}\n")
_SENTENCE = re.compile(r"[.!?…][\"')\]’”»]{0,4}\s|[。！？][」』”’）]{0,4}\s?|\n")
_WORD = re.compile(r"\s")


def chunks(text: str, max_chars: int) -> list[str]:
    """``text`` in pieces of at most ``max_chars`` code points each, the marker included.

    Without their markers the pieces are the text, character for character: white space at a cut stays at
    the end of a piece or the beginning of the next. ``max_chars`` must be greater than the marker's length.
    """
    if max_chars <= len(CONTINUED):
        raise ValueError(f"max_chars must be over {len(CONTINUED)}")
    if len(text) <= max_chars:
        return [text]
    pieces: list[str] = []
    start, marker = 0, ""
    while len(text) - start > max_chars - len(marker):
        end = _cut(text, start, start + max_chars - len(marker))
        pieces.append(marker + text[start:end])
        start, marker = end, CONTINUED
    pieces.append(marker + text[start:])
    return pieces


def _cut(text: str, start: int, limit: int) -> int:
    """Where the piece that begins at ``start`` and may go up to ``limit`` ends."""
    earliest = start + int((limit - start) * _EARLIEST_CUT)
    for boundary in (_PARAGRAPH, _SENTENCE, _WORD):
        end = _last(boundary, text, earliest, limit)
        if end is not None:
            return end
    end = limit
    while end > start and is_inside_character(text, end, start):
        end -= 1
    return end if end > start else limit


def _last(boundary: re.Pattern[str], text: str, earliest: int, limit: int) -> int | None:
    """The latest place after ``earliest`` where ``boundary`` ends, or begins if its end is past ``limit``."""
    for match in reversed(list(boundary.finditer(text, earliest, min(len(text), limit + 8)))):
        at = match.end() if match.end() <= limit else match.start()
        if earliest < at <= limit and not is_inside_character(text, at, earliest):
            return at
    return None

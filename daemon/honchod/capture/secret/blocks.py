"""Private key blocks: from their BEGIN line to their END line, or as far as key material goes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from honchod.capture.secret.spans import Haystack, Span

HINTS = ("PRIVATE KEY", "Private-Lines")
"""One of them is in every text that holds a private key."""

_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,4}")
# A line of base64 or an armour header. Line breaks may be real ones or the \n of JSON and shells.
_MATERIAL = re.compile(
    r"(?:\s|\\[nr]|[|>\"'])*"
    r"(?:[A-Za-z0-9+/=_-]{16,}|[A-Za-z0-9+/]{1,15}={1,2}(?![\w=])"
    r"|(?:Proc-Type|DEK-Info|Comment|Version): [^\r\n\\]{0,200})"
)
_MAX_BLOCK_CHARS = 65_536


def find_private_keys(haystack: Haystack) -> Iterator[Span]:
    """Spans of PEM, OpenSSH, PGP and PuTTY private keys, also of those whose END line was cut off."""
    text = haystack.text
    if not any(map(text.__contains__, HINTS)):
        return
    ends = [match.end() for match in _END.finditer(text)]
    begins = [match.span() for match in _BEGIN.finditer(text)]
    next_end = 0
    for at, (start, body) in enumerate(begins):
        while next_end < len(ends) and ends[next_end] < body:
            next_end += 1
        limit = begins[at + 1][0] if at + 1 < len(begins) else len(text)
        closed = next_end < len(ends) and ends[next_end] <= min(limit, body + _MAX_BLOCK_CHARS)
        yield Span(start, ends[next_end] if closed else _end_of_material(text, body), "private_key")
    for lines in _PUTTY.finditer(text):
        end = _end_of_material(text, lines.end())
        if end > lines.end():
            yield Span(lines.end(), end, "private_key")


def _end_of_material(text: str, at: int) -> int:
    while (line := _MATERIAL.match(text, at)) is not None:
        at = line.end()
    return at

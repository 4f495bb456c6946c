"""Where secrets stand in a text: what finders look through, the spans they report, how those are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9_]{1,40}\]")
"""What a hidden secret leaves behind; never redacted again, which makes redaction idempotent."""

DENSE_CHARS = 15


class Haystack(NamedTuple):
    """A text, prepared once for all finders.

    ``lowered`` is what `lower` and ``dense`` what `dense` makes of it.
    """

    text: str
    lowered: str
    dense: str


def lower(text: str) -> str:
    """``text`` in lower case and exactly as long, so that positions in one hold in the other."""
    # U+0130 is the one character that grows in lower case.
    return text.lower() if text.isascii() else text.replace("\u0130", "i").lower()


def dense(text: str) -> str:
    """The words of ``text`` of `DENSE_CHARS` and more, one a line.

    No key of a provider is shorter, and ordinary text has few such words.
    """
    return "\n".join([word for word in text.split() if len(word) >= DENSE_CHARS])


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` is a secret of ``kind`` (lower case, the label in its placeholder)."""

    start: int
    end: int
    kind: str


def hide(text: str, spans: Sequence[Span]) -> str:
    """``text`` with every span replaced by its placeholder.

    Overlapping spans are hidden together, under the kind of the span that comes first in ``spans``.
    Placeholders already in the text stay as they are, even inside a span.
    """
    hidden: list[str] = []
    done = 0
    for span in _outside_placeholders(text, _united(spans)):
        hidden += (text[done : span.start], f"[redacted:{span.kind}]")
        done = span.end
    return "".join((*hidden, text[done:])) if done else text


def _united(spans: Sequence[Span]) -> list[Span]:
    rank = {span: at for at, span in reversed(list(enumerate(spans)))}
    united: list[Span] = []
    ranks: list[int] = []
    for span in sorted(rank, key=lambda s: (s.start, s.end)):
        if united and span.start < united[-1].end:
            last = united[-1]
            kind = span.kind if rank[span] < ranks[-1] else last.kind
            united[-1] = Span(last.start, max(last.end, span.end), kind)
            ranks[-1] = min(ranks[-1], rank[span])
        else:
            united.append(span)
            ranks.append(rank[span])
    return united


def _outside_placeholders(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """The parts of the spans that are not placeholders already. Both run from left to right."""
    if "[redacted:" not in text:
        yield from spans
        return
    kept = [match.span() for match in PLACEHOLDER.finditer(text)]
    first = 0
    for span in spans:
        while first < len(kept) and kept[first][1] <= span.start:
            first += 1
        start = span.start
        for kept_start, kept_end in kept[first:]:
            if kept_start >= span.end:
                break
            if start < kept_start:
                yield Span(start, kept_start, span.kind)
            start = kept_end
        if start < span.end:
            yield Span(start, span.end, span.kind)

"""The two sorts of shapes that give a secret away: a prefix with its tail, and a pattern as a whole.

A `Sieve` puts many of them together and passes by a text that can hold none, which is nearly every text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from honchod.capture.secret.spans import Haystack, Span
from honchod.capture.secret.words import any_of


@dataclass(frozen=True)
class Prefixed:
    """A secret that begins with one of ``prefixes`` and goes on with ``tail``.

    Group ``secret`` of ``tail`` is hidden; where there is none, all of it with the prefix. ``folded``
    prefixes are lower case and found in any case. The character before a prefix must not be a letter, a
    digit or one of ``glue``. ``sure`` has the last word over the hidden text.
    """

    kind: str
    prefixes: tuple[str, ...]
    tail: str
    sure: Callable[[str], bool] | None = None
    folded: bool = False
    glue: str = ""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The tail, compiled when it is first needed: importing this module stays cheap."""
        return re.compile(self.tail, re.IGNORECASE if self.folded else 0)

    def find(self, haystack: Haystack) -> Iterator[Span]:
        """The spans of this shape in the text."""
        sieve = haystack.lowered if self.folded else haystack.dense
        for prefix in self.prefixes:
            if prefix in sieve:
                yield from self._find(prefix, haystack)

    def _find(self, prefix: str, haystack: Haystack) -> Iterator[Span]:
        text = haystack.text
        searched = haystack.lowered if self.folded else text
        at = searched.find(prefix)
        while at >= 0:
            after = at + len(prefix)
            match = None if self._is_inside_word(text, at) else self.compiled.match(text, after)
            if match is not None:
                # Behind the match even if it is no secret: looking at the same characters again for each
                # prefix in them would take quadratic time.
                after = match.end()
                start, end = match.span("secret") if self.compiled.groups else (at, after)
                if self.sure is None or self.sure(text[start:end]):
                    yield Span(start, end, self.kind)
            at = searched.find(prefix, after)

    def _is_inside_word(self, text: str, at: int) -> bool:
        if at == 0 or not text[at].isalnum():
            return False
        before = text[at - 1]
        return (before.isascii() and before.isalnum()) or before in self.glue


@dataclass(frozen=True)
class Shape:
    """A secret known by the whole of its ``pattern``, tried where a long word holds one of ``hints``.

    Group ``secret`` is hidden, the whole match where there is none.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    sure: Callable[[str], bool] | None = None
    folded: bool = False

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed."""
        return re.compile(self.pattern, re.IGNORECASE if self.folded else 0)

    def find(self, haystack: Haystack) -> Iterator[Span]:
        """The spans of this shape in the text."""
        if not any(hint in haystack.dense for hint in self.hints):
            return
        group = "secret" if self.compiled.groups else 0
        for match in self.compiled.finditer(haystack.text):
            if self.sure is None or self.sure(match[group]):
                yield Span(*match.span(group), self.kind)


class Sieve:
    """Several shapes, tried in their order, and only where the text holds a hint of one of them."""

    def __init__(self, shapes: Sequence[Prefixed | Shape]) -> None:
        self._shapes = shapes
        dense = [hint for shape in shapes if not _looks_at_all(shape) for hint in _hints(shape)]
        self._dense = any_of(dense)
        self.lowered = tuple(hint for shape in shapes if _looks_at_all(shape) for hint in _hints(shape))
        """Where no long word is, one of these is in every text that holds one of the shapes, in any case."""

    def find(self, haystack: Haystack) -> Iterator[Span]:
        """The spans of all shapes in the text."""
        if self.may_be_in(haystack):
            for shape in self._shapes:
                yield from shape.find(haystack)

    def may_be_in(self, haystack: Haystack) -> bool:
        """Whether the text holds a hint of one of the shapes."""
        return self._dense.search(haystack.dense) is not None or any(
            map(haystack.lowered.__contains__, self.lowered)
        )


def _looks_at_all(shape: Prefixed | Shape) -> bool:
    """Whether a shape looks for its hints in the whole text and in any case, not in its long words alone."""
    return isinstance(shape, Prefixed) and shape.folded


def _hints(shape: Prefixed | Shape) -> tuple[str, ...]:
    return shape.prefixes if isinstance(shape, Prefixed) else shape.hints

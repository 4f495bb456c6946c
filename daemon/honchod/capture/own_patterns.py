"""The operator's own patterns for redaction: any regular expression, and each with an end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex
import structlog

from honchod.capture.secret.spans import Span

TIME_MAX_S: Final = 0.05
"""How long one of them may search one text. One that backtracks without end is stopped there."""

_log = structlog.get_logger("honchod.capture")


class OwnPattern:
    """A regular expression of ``honchod.toml``; ``key`` is where it stands, as the log names it.

    Raises ValueError when it cannot be compiled. What it is asked raises TimeoutError once that takes longer
    than `TIME_MAX_S`: whoever redacts fails closed then.
    """

    def __init__(self, pattern: str, key: str) -> None:
        try:
            self._pattern = regex.compile(pattern)
        except regex.error as fault:
            raise ValueError(str(fault)) from None
        self._group = "secret" if "secret" in self._pattern.groupindex else 0
        self._key = key

    def find(self, text: str) -> Iterator[Span]:
        """The spans to hide: the group named ``secret``, the whole match where there is none."""
        try:
            for match in self._pattern.finditer(text, timeout=TIME_MAX_S):
                start, end = match.span(self._group)
                if start < end:
                    yield Span(start, end, "custom")
        except TimeoutError:
            raise self._too_slow() from None

    def matches(self, secret: str) -> bool:
        """Whether it matches all of ``secret``."""
        try:
            return self._pattern.fullmatch(secret, timeout=TIME_MAX_S) is not None
        except TimeoutError:
            raise self._too_slow() from None

    def _too_slow(self) -> TimeoutError:
        _log.warning("redaction.pattern_too_slow", pattern=self._key, limit_s=TIME_MAX_S)
        return TimeoutError(f"{self._key} took longer than {TIME_MAX_S:g} s")

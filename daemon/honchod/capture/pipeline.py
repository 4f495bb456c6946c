"""From what an agent hands in to what may be stored: strip, drop, redact, chunk, in this order.

Redaction comes before the cut, so that no secret survives across it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from honchod.capture.chunk import chunks
from honchod.capture.clean import may_hold_recalled, well_formed, without_control_tokens, without_recalled
from honchod.capture.host_patterns import patterns_for
from honchod.capture.noise import is_noise, without_metadata
from honchod.errors import RedactionFailed


class HidesSecrets(Protocol):
    """What the pipeline needs of a redactor."""

    def text(self, text: str) -> str:
        """``text`` without its secrets."""

    def value(self, value: Any) -> Any:
        """A JSON value without its secrets."""

    def is_clean(self, text: str) -> bool:
        """Whether `text` would surely change neither ``text`` nor any line of it."""


class Captured(NamedTuple):
    """What may be stored: the pieces of the content in order, at least one, and the metadata."""

    pieces: tuple[str, ...]
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dropped:
    """Nothing is stored, on purpose; ``reason`` is that of the API's answer."""

    reason: Literal["empty", "noise"]


class Pipeline:
    """The way of a message of one host.

    ``redactor`` is ``None`` where redaction is switched off. ``max_chars`` bounds a piece in code points,
    its marker included.
    """

    def __init__(self, host: str, redactor: HidesSecrets | None, max_chars: int) -> None:
        self._patterns = patterns_for(host)
        self._redactor = redactor
        self._max_chars = max_chars

    def run(self, content: str, author: str, metadata: Mapping[str, Any] | None) -> Captured | Dropped:
        """Cleans, filters, redacts and cuts one message.

        ``author`` is one of the API's authors; what only a person can say is looked for in ``human`` ones
        alone. Raises ``RedactionFailed``, with nothing of the content in it, whatever the redactor raised.
        """
        said = self.said(content, author)
        return said if isinstance(said, Dropped) else self.kept(said, metadata)

    def said(self, content: str, author: str) -> str | Dropped:
        """The first half of `run`: cleans and filters the words of ``author``."""
        text = without_metadata(without_recalled(well_formed(content)), self._patterns, author)
        if not text or text.isspace():
            return Dropped("empty")
        return Dropped("noise") if is_noise(text, self._patterns, author) else text

    def are_easy(self, texts: Sequence[str]) -> bool:
        """Whether there is surely nothing to hide, to cut or to unwrap in any of them: `run` has little work.

        Raises ``RedactionFailed``.
        """
        return all(
            len(text) <= self._max_chars and not may_hold_recalled(text) for text in texts
        ) and self.are_clean(texts)

    def are_clean(self, texts: Sequence[str]) -> bool:
        """Whether there is surely nothing to hide in any of them: one look instead of one for each."""
        return are_clean(self._redactor, texts)

    def kept(self, text: str, metadata: Mapping[str, Any] | None, *, clean: bool = False) -> Captured:
        """The second half of `run`: redacts and cuts what was said. Of ``clean`` words that is known."""
        if self._redactor is not None:
            try:
                text = text if clean else self._redactor.text(text)
                metadata = self._redactor.value(_well_formed_value(metadata)) if metadata else {}
            except Exception:
                # Not chained: the cause may carry the content.
                raise redaction_failed() from None
        elif metadata:
            metadata = _well_formed_value(metadata)
        return Captured(tuple(chunks(without_control_tokens(text), self._max_chars)), metadata or {})


def are_clean(redactor: HidesSecrets | None, texts: Sequence[str]) -> bool:
    """Whether there is surely nothing to hide in any of the texts. Raises `RedactionFailed`."""
    try:
        return redactor is None or redactor.is_clean("\n".join(texts))
    except Exception:
        raise redaction_failed() from None


def redaction_failed() -> RedactionFailed:
    """What is raised in place of whatever a redactor raised: that may carry the content."""
    return RedactionFailed("a redactor failed; nothing was stored")


def _well_formed_value(value: Any) -> Any:
    """A JSON value whose strings, keys too, hold no NUL and no lone surrogate."""
    match value:
        case str():
            return well_formed(value)
        case Mapping():
            return {well_formed(key): _well_formed_value(item) for key, item in value.items()}
        case list() | tuple():
            return [_well_formed_value(item) for item in value]
    return value

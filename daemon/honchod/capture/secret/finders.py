"""All finders over one text, and how to do without them: nearly every text holds no secret."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from honchod.capture.secret import blocks, commands
from honchod.capture.secret.assignments import find_assigned
from honchod.capture.secret.blocks import find_private_keys
from honchod.capture.secret.commands import find_in_commands
from honchod.capture.secret.credentials import CREDENTIALS
from honchod.capture.secret.names import CLUES
from honchod.capture.secret.providers import PROVIDER_KEYS
from honchod.capture.secret.shape import Sieve
from honchod.capture.secret.spans import DENSE_CHARS, Haystack, Span, dense, lower
from honchod.capture.secret.speech import is_plain_speech
from honchod.capture.secret.words import any_of, has_long_word

_SHAPES: Final = Sieve((*PROVIDER_KEYS, *CREDENTIALS))


def _fewest(hints: Iterable[str]) -> tuple[str, ...]:
    """The hints in lower case, without those that hold another one."""
    lowered = {hint.lower() for hint in hints}
    return tuple(sorted(hint for hint in lowered if not any(o in hint for o in lowered - {hint})))


_HINT: Final = any_of(_fewest((*CLUES, *blocks.HINTS, *commands.HINTS, *_SHAPES.lowered)))
"""Without one in lower case, only what is known by its shape and in a long word can be in a text."""

_NUMBERS: Final = "0123456789abcdef-\n"
"""What nothing but numbers and UUIDs is written in, one or several: no hint is made of these alone."""


def find_secrets(text: str) -> list[Span]:
    """The spans of all secrets in ``text``; of two that overlap, the earlier names the kind."""
    haystack = _prepared(text)
    return [] if haystack is None else find_all(haystack)


def find_all(haystack: Haystack) -> list[Span]:
    """The same, with every finder looking for itself."""
    return [
        *find_private_keys(haystack),
        *_SHAPES.find(haystack),
        *find_assigned(haystack),
        *find_in_commands(haystack),
    ]


def holds_none(text: str) -> bool:
    """Whether no line of ``text`` can hold a secret. False means only that one may."""
    return _prepared(text) is None


def _prepared(text: str) -> Haystack | None:
    """The text as the finders need it; None where none of them can find anything in any part of it."""
    if not text.strip(_NUMBERS):
        return None
    data = text.encode("utf-8", "replace")
    if is_plain_speech(data):
        return None
    lowered = lower(text)
    if _HINT.search(lowered):
        return Haystack(text, lowered, dense(text))
    if not has_long_word(data, DENSE_CHARS):
        return None
    haystack = Haystack(text, lowered, dense(text))
    return haystack if _SHAPES.may_be_in(haystack) else None

"""Hide secrets before anything is stored: in message content, in metadata, in the drop box of the client.

Standard library only. Whoever calls it fails closed: an exception here means that nothing is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from honchod.capture.secret.finders import find_secrets, holds_none
from honchod.capture.secret.names import NameKind, name_kind
from honchod.capture.secret.spans import PLACEHOLDER, Span, hide
from honchod.capture.secret.values import Form, is_placeholder, is_secret_value

_PASSES_MAX = 32
_MAX_DEPTH = 64
_TOO_DEEP = "[redacted:too_deep]"
_NAME_FIELDS = ("name", "key", "Name", "Key")
_VALUE_FIELDS = ("value", "Value")


class Pattern(Protocol):
    """What an operator adds to the built-in patterns, or excepts from them."""

    def find(self, text: str) -> Iterable[Span]:
        """What of ``text`` is to be hidden."""
        ...

    def matches(self, secret: str) -> bool:
        """Whether it describes all of ``secret``."""
        ...


class Redactor:
    """Replaces each secret by ``[redacted:KIND]``: the built-in ones and those that ``patterns`` find.

    A secret that one of ``allow`` matches stays. What a pattern raises is passed on.
    """

    def __init__(self, patterns: Sequence[Pattern] = (), allow: Sequence[Pattern] = ()) -> None:
        self._patterns = tuple(patterns)
        self._allow = tuple(allow)

    def text(self, text: str) -> str:
        """``text`` without its secrets. Idempotent: a second time changes nothing.

        Raises ValueError for a text in which pass after pass finds more, as a pattern does that feeds on what
        it hid.
        """
        for _ in range(_PASSES_MAX):
            spans = self._spans(text)
            if not spans or (hidden := hide(text, spans)) == text:
                return text
            # A secret may only show once another is gone.
            text = hidden
        raise ValueError("redaction does not come to rest")

    def is_clean(self, text: str) -> bool:
        """Whether there is surely nothing to hide, neither in ``text`` nor in any line of it."""
        return not self._patterns and holds_none(text)

    def value(self, value: Any) -> Any:
        """A JSON value without its secrets: every string of it, keys too, at any depth.

        What stands under a name that promises a secret (``api_key``, ``password``, ``authorization``) is
        hidden whatever it looks like. Past 64 levels nothing is looked at and nothing is kept.
        """
        return self._value(value, None, _MAX_DEPTH)

    def _spans(self, text: str) -> list[Span]:
        spans = find_secrets(text)
        if self._patterns:
            spans = [*(span for pattern in self._patterns for span in pattern.find(text)), *spans]
        if self._allow and spans:
            spans = [span for span in spans if not self._is_allowed(text[span.start : span.end])]
        return spans

    def _is_allowed(self, secret: str) -> bool:
        return any(pattern.matches(secret) for pattern in self._allow)

    def _value(self, value: Any, promised: NameKind | None, levels: int) -> Any:
        if isinstance(value, str):
            return self._string(value, promised)
        if isinstance(value, (dict, list, tuple)) and levels == 0:
            return _TOO_DEEP
        if isinstance(value, dict):
            return self._object(value, promised, levels)
        if isinstance(value, (list, tuple)):
            return [self._value(item, promised, levels - 1) for item in value]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return _placeholder(promised) if is_number and promised is NameKind.PASSWORD else value

    def _object(self, value: dict[str, Any], promised: NameKind | None, levels: int) -> dict[str, Any]:
        named = next((name_kind(value[f]) for f in _NAME_FIELDS if isinstance(value.get(f), str)), None)
        clean: dict[str, Any] = {}
        for key, item in value.items():
            kind = name_kind(key) or promised or (named if key in _VALUE_FIELDS else None)
            clean[_unused(self.text(key), clean)] = self._value(item, kind, levels - 1)
        return clean

    def _string(self, value: str, promised: NameKind | None) -> str:
        if promised is None or not value.strip() or PLACEHOLDER.fullmatch(value) or is_placeholder(value):
            return self.text(value)
        if promised is NameKind.PASS and not is_secret_value(value, promised, Form.QUOTED):
            return self.text(value)
        return value if self._is_allowed(value) else _placeholder(promised)


def _placeholder(kind: NameKind) -> str:
    return f"[redacted:{kind.value}]"


def _unused(key: str, taken: dict[str, Any]) -> str:
    """Two keys that redaction made alike stay two keys."""
    name, count = key, 2
    while name in taken:
        name, count = f"{key}#{count}", count + 1
    return name

"""Make content harmless: no recalled blocks, no characters that no request can carry, no control tokens.

All of it is idempotent, and nothing changes where there is nothing to clean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CONTROL_TOKENS = ("<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
"""Strings that Honcho's tokenizers refuse, and the whole batch with them. Only content is tokenised."""

_ZERO_WIDTH_SPACE = "\u200b"
_CONTROL_TOKEN = re.compile("|".join(map(re.escape, CONTROL_TOKENS)))
_SURROGATE = re.compile("[\ud800-\udfff]")

_FENCE = "memory-context"
_FENCE_TAG = re.compile(r"<\s{0,4}(/?)\s{0,4}memory-context(?![\w-])[^<>]{0,64}>\Z", re.IGNORECASE)
_FENCE_TAG_CHARS = 100
_QUOTES = frozenset("`'\"")


def well_formed(text: str) -> str:
    """``text`` without NUL and without lone surrogates, which become U+FFFD; pairs become their character."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def without_control_tokens(text: str) -> str:
    """``text`` with a zero-width space inside every string that a tokenizer would take for a command."""
    if "<|" not in text:
        return text
    return _CONTROL_TOKEN.sub(lambda match: f"<{_ZERO_WIDTH_SPACE}{match[0][1:]}", text)


def may_hold_recalled(text: str) -> bool:
    """Whether there may be a ``<memory-context>`` block or tag in ``text``; False is certain."""
    return "<" in text and _FENCE in text.lower()


def without_recalled(text: str) -> str:
    """``text`` without ``<memory-context>`` blocks, so that memory never feeds on itself.

    Nested blocks go as a whole, and a tag that another tag was hidden in goes too. A block that is never
    closed goes up to the end if its tag opens or ends a line, as an injected one does; in the middle of a
    sentence only the tag goes. A tag in quotes or backticks is talked about, not meant: it stays.
    """
    if not may_hold_recalled(text):
        return text
    kept = _Kept()
    at = 0
    while (end := text.find(">", at)) >= 0:
        kept.take(text[at : end + 1], following=text[end + 1 : end + 2])
        at = end + 1
    kept.take(text[at:], following="")
    return kept.text()


@dataclass(frozen=True, slots=True)
class _OpenBlock:
    at: int
    is_block: bool
    """Its tag opens or ends a line."""


class _Kept:
    """What is kept so far: one character an item, so that a block can be cut off again cheaply.

    Tags are looked for in what is *kept*, not in the input: one that only appears when another is taken
    out is found as well, in a single pass.
    """

    def __init__(self) -> None:
        self._chars: list[str] = []
        self._open: list[_OpenBlock] = []
        self._searched_to = 0
        self._changed = False

    def take(self, piece: str, *, following: str) -> None:
        """Adds the input up to and with the next ``>``."""
        self._chars += piece
        tail_at = max(self._searched_to, len(self._chars) - _FENCE_TAG_CHARS)
        self._searched_to = len(self._chars)
        tag = _FENCE_TAG.search("".join(self._chars[tail_at:]))
        if tag is None:
            return
        start = tail_at + tag.start()
        before = self._chars[start - 1] if start else ""
        if before in _QUOTES and before == following:
            return
        self._changed = True
        del self._chars[start:]
        self._searched_to = max(0, start - _FENCE_TAG_CHARS)
        if not tag[1]:
            is_block = following in {"", "\n", "\r"} or self._is_at_line_start()
            self._open.append(_OpenBlock(start, is_block))
        elif self._open:
            self._cut(self._open.pop().at)

    def text(self) -> str:
        """All that is kept, after the blocks that were never closed."""
        unclosed = next((block for block in self._open if block.is_block), None)
        if unclosed is not None:
            self._cut(unclosed.at)
        text = "".join(self._chars)
        return text.strip() if self._changed else text

    def _cut(self, at: int) -> None:
        del self._chars[at:]
        self._searched_to = min(self._searched_to, max(0, at - _FENCE_TAG_CHARS))

    def _is_at_line_start(self) -> bool:
        line = "".join(self._chars[-_FENCE_TAG_CHARS:]).rpartition("\n")[2]
        return not line.strip()

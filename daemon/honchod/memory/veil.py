"""Texts on their way out and in: without secrets, bounded, and harmless in a prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from honchod.errors import RedactionFailed
from honchod.recall.cutting import cut
from honchod.recall.fence import LINE_CHARS, TEXT_CHARS, clean

Redact = Callable[[str], str]
"""Gives a text without its secrets. May raise anything."""

QUERY_CHARS: Final = 10_000
"""Honcho's own bound."""
IN_LOOP_CHARS: Final = 512
"""A longer text is redacted in a thread: that can take milliseconds, and the loop has others to serve."""


class Veil:
    """Hides secrets; ``redact`` is None where redaction is switched off. `use` replaces it."""

    def __init__(self, redact: Redact | None) -> None:
        self._redact = redact

    def use(self, redact: Redact | None) -> None:
        """Hide secrets this way from now on."""
        self._redact = redact

    async def query(self, text: str) -> str:
        """A query as it may leave the daemon. Raises RedactionFailed."""
        hidden = await self._hidden(text.replace("\0", "").encode("utf-8", "replace").decode())
        return cut(" ".join(hidden.split()), QUERY_CHARS)

    async def shown(self, text: str, chars: int, *, line_chars: int | None = None) -> str:
        """A text of Honcho's or of the outbox as a model may see it. Raises RedactionFailed."""
        return cut(clean(await self._hidden(text[:TEXT_CHARS]), line_chars=line_chars), chars)

    async def line(self, text: str) -> str:
        """One conclusion, one line of a card. Raises RedactionFailed."""
        return " ".join((await self.shown(text, LINE_CHARS)).split())

    async def _hidden(self, text: str) -> str:
        redact = self._redact
        if redact is None:
            return text
        try:
            if len(text) <= IN_LOOP_CHARS:
                return redact(text)
            return await asyncio.get_running_loop().run_in_executor(None, redact, text)
        except Exception:
            # Not chained: the cause may carry the text.
            raise RedactionFailed("a redactor failed; nothing was asked or shown") from None

"""A query on its way out: without secrets, bounded, and known by its digest."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from honchod.recall.look import Asked
from honchod.recall.trivial import is_trivial

log = structlog.get_logger("honchod.recall")

Redact = Callable[[str], str]
"""Gives a text without its secrets. May raise anything."""

QUERY_CHARS: Final = 10_000
"""Honcho's own bound."""
IN_LOOP_CHARS: Final = 512
"""A longer query is redacted in a thread: that can take milliseconds, and the loop has others to serve."""
REMEMBERED: Final = 1_000
_DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a request asks. ``asked`` is None where there is nothing to look up: because there is no query,
    because it is ``trivial``, or because its secrets could not be taken out (``withheld``).
    """

    asked: Asked | None = None
    trivial: bool = False
    withheld: bool = False


NOTHING: Final = Prompt()


class Queries:
    """Reads queries. Those that come again, as they do in a turn, are remembered."""

    def __init__(self, redact: Redact | None, salt: bytes) -> None:
        self._redact = redact
        self._salt = salt
        self._known: OrderedDict[str, Prompt] = OrderedDict()

    def use(self, redact: Redact | None) -> None:
        """Take secrets out this way from now on."""
        self._redact = redact
        self._known.clear()

    async def read(self, query: str | None) -> Prompt:
        """What the query asks. It never raises: what cannot be made safe is not asked."""
        if query is None or not query.strip():
            return NOTHING
        known = self._known.get(query)
        if known is not None:
            self._known.move_to_end(query)
            return known
        if is_trivial(query):
            return Prompt(trivial=True)
        redact = self._redact
        text = query[: 2 * QUERY_CHARS]
        try:
            if redact is not None and len(text) > IN_LOOP_CHARS:
                text = await asyncio.get_running_loop().run_in_executor(None, redact, text)
            elif redact is not None:
                text = redact(text)
        except Exception as error:
            log.error("query.withheld", error=type(error).__name__)
            return Prompt(withheld=True)
        prompt = Prompt(self._asked(text))
        self._known[query] = prompt
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return prompt

    def _asked(self, text: str) -> Asked:
        text = " ".join(text.encode("utf-8", "replace").decode().replace("\0", "").split())[:QUERY_CHARS]
        return Asked(
            text, hashlib.blake2b(text.encode(), key=self._salt, digest_size=_DIGEST_BYTES).hexdigest()
        )

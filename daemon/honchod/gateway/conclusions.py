"""Conclusions of one workspace: made, found again, listed, searched, deleted.

A conclusion has no metadata and no key of idempotency. It is found again by what it says: whoever observes,
who is observed, the session and the words. Time is left out, for the server's clock is another one.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from honcho.api_types import ConclusionResponse
from honcho.conclusions import Conclusion, ConclusionCreateParams, ConclusionsView
from honcho.pagination import AsyncPage

from honchod.errors import CallFailed, CallReason
from honchod.gateway.memory import Calls
from honchod.gateway.values import NOT_FOUND, Concluded, Sight

if TYPE_CHECKING:
    from honcho import Honcho

Page = AsyncPage[ConclusionResponse, Conclusion]
PAGE: Final = 100
"""Honcho's own bound on a page."""
CREATED: Final = 201
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,512}")
"""What may stand in a path: anything else is answered with a 500."""


class Conclusions:
    """The conclusions behind a gateway. Every method raises `CallFailed`."""

    def __init__(self, honcho: Honcho, call: Calls) -> None:
        self._honcho = honcho
        self._call = call

    async def conclude(self, sight: Sight, session: str, content: str) -> str:
        """Store one. Returns Honcho's id of it. A peer that Honcho has never met is made first."""
        try:
            return await self._create(sight, session, content)
        except CallFailed as failure:
            if failure.status != NOT_FOUND:
                raise
        for peer in sorted({sight.observer, sight.target}):
            await self._call(partial(self._honcho.aio.peer, peer))
        return await self._create(sight, session, content)

    async def find(self, sight: Sight, session: str, content: str) -> str | None:
        """Honcho's id of the conclusion that says this; None where there is none."""
        page: Page | None = await self._call(lambda: self._of(sight).aio.list(size=PAGE, session=session))
        while page is not None:
            for one in page.items:
                # A server that ignores filters lists those of others too.
                pair = Sight(one.observer_id, one.observed_id)
                if one.content == content and pair == sight and one.session_id == session:
                    return str(one.id)
            page = await self._next(page)
        return None

    async def latest(self, sight: Sight, limit: int) -> tuple[Concluded, ...]:
        """The newest of a pair, at most ``limit`` (up to 100)."""
        page = await self._call(lambda: self._of(sight).aio.list(size=limit))
        return tuple(Concluded(one.id, one.content) for one in page.items[:limit])

    async def near(self, sight: Sight, query: str, limit: int) -> tuple[Concluded, ...]:
        """Those of a pair that are nearest to the query."""
        found: list[Conclusion] = await self._call(lambda: self._of(sight).aio.query(query, top_k=limit))
        return tuple(Concluded(one.id, one.content) for one in found)

    async def delete(self, conclusion_id: str) -> bool:
        """Delete one by Honcho's id. False when there is none of that id."""
        if not _ID.fullmatch(conclusion_id):
            return False
        try:
            await self._call(lambda: self._of(Sight("", "")).aio.delete(conclusion_id))
        except CallFailed as failure:
            if failure.status != NOT_FOUND:
                raise
            return False
        return True

    async def consolidate(self, sight: Sight, session: str | None) -> None:
        """Ask Honcho to think over what the observer knows of the target, soon and by itself."""
        await self._call(
            lambda: self._honcho.aio.schedule_dream(sight.observer, session=session, observed=sight.target)
        )

    async def _create(self, sight: Sight, session: str, content: str) -> str:
        new = ConclusionCreateParams(content=content, session_id=session)
        stored: list[Conclusion] = await self._call(lambda: self._of(sight).aio.create([new]))
        if len(stored) != 1:
            raise CallFailed(CallReason.NOT_HONCHO, status=CREATED)
        return stored[0].id

    async def _next(self, page: Page) -> Page | None:
        return await self._call(page.get_next_page)

    def _of(self, sight: Sight) -> ConclusionsView:
        """The SDK's object, without a request."""
        return ConclusionsView(self._honcho, self._honcho.workspace_id, sight.observer, sight.target)

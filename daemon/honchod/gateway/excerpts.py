"""What was said, as it was said, and what is known for sure: messages that fit a query, and cards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from honcho.api_types import MessageResponse
from honcho.message import Message
from honcho.pagination import AsyncPage
from honcho.peer import Peer
from honcho.session import Session

from honchod.errors import CallFailed
from honchod.gateway.memory import Calls
from honchod.gateway.values import NOT_FOUND, Said, Sight, Where

if TYPE_CHECKING:
    from honcho import Honcho


class Excerpts:
    """The messages and cards behind a gateway. Every method raises `CallFailed`."""

    def __init__(self, honcho: Honcho, call: Calls) -> None:
        self._honcho = honcho
        self._call = call

    async def near(
        self, query: str, where: Where, of: str, limit: int, *, scope: str | None = None
    ) -> tuple[Said, ...]:
        """The messages that are nearest to the query. ``of`` names the peer or the session.

        What Honcho does not know is empty. ``scope`` narrows a search of the workspace.
        """
        if where is Where.WORKSPACE:
            search = partial(self._honcho.aio.search, query, limit=limit, scope=scope)
        elif where is Where.SESSION:
            search = partial(Session(of, self._honcho).aio.search, query, limit=limit)
        else:
            search = partial(Peer(of, self._honcho).aio.search, query, limit=limit)
        try:
            found: list[Message] = await self._call(search)
        except CallFailed as failure:
            if failure.status != NOT_FOUND or scope is not None:
                raise
            return ()
        return tuple(Said(one.id, one.peer_id, one.session_id, one.content) for one in found)

    async def latest(self, session: str, limit: int) -> tuple[Said, ...]:
        """The last messages of a session, in their order; none of one that Honcho does not know."""
        newest_first = partial(Session(session, self._honcho).aio.messages, size=limit, reverse=True)
        try:
            page: AsyncPage[MessageResponse, Message] = await self._call(newest_first)
        except CallFailed as failure:
            if failure.status != NOT_FOUND:
                raise
            return ()
        said = [Said(one.id, one.peer_id, one.session_id, one.content) for one in page.items[:limit]]
        return tuple(reversed(said))

    async def card(self, sight: Sight) -> tuple[str, ...]:
        """What the observer holds for sure of the target; nothing of one that Honcho has never met."""
        try:
            lines = await self._call(lambda: Peer(sight.observer, self._honcho).aio.get_card(sight.target))
        except CallFailed as failure:
            if failure.status != NOT_FOUND:
                raise
            return ()
        return tuple(lines or ())

    async def set_card(self, sight: Sight, lines: Sequence[str]) -> tuple[str, ...]:
        """Replace the card. Returns what Honcho holds now."""
        held = await self._call(
            lambda: Peer(sight.observer, self._honcho).aio.set_card(list(lines), sight.target)
        )
        return tuple(held or ())

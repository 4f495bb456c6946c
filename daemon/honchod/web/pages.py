"""What a browser gets to see: each handler asks the daemon and renders."""

from __future__ import annotations

import asyncio

from aiohttp import web

from honchod.clock import Clock
from honchod.errors import BadRequest
from honchod.web.actions import Actions
from honchod.web.answers import html
from honchod.web.backend import Backend
from honchod.web.gate import Visit
from honchod.web.history import History
from honchod.web.identity import identities
from honchod.web.letters import BRIEF, PAGE_SIZE, Filter, letter_page, letters_page
from honchod.web.overview import Snapshot, live_parts, overview_page

_CURSOR_CHARS = 512


class Pages:
    """The handlers."""

    def __init__(self, backend: Backend, history: History, actions: Actions, clock: Clock) -> None:
        self._backend = backend
        self._history = history
        self._actions = actions
        self._clock = clock

    async def overview(self, visit: Visit) -> web.StreamResponse:
        """The whole daemon on one page."""
        seen = await self._look()
        return html(overview_page(seen, csrf=visit.csrf, notices=visit.session.take_notices()))

    async def live(self, visit: Visit) -> web.StreamResponse:
        """The parts of the overview that its script puts in place."""
        return html(live_parts(await self._look(), visit.csrf))

    async def letters(self, visit: Visit) -> web.StreamResponse:
        """A page of dead letters."""
        query = visit.request.query
        only = Filter.of(query.get("session"), query.get("code"))
        cursor = query.get("cursor") or None
        if cursor is not None and len(cursor) > _CURSOR_CHARS:
            raise BadRequest("cursor: not one that a page of letters gave")
        page, status = await asyncio.gather(
            self._backend.letters(session=only.session, code=only.code, limit=PAGE_SIZE, cursor=cursor),
            self._backend.status(),
        )
        return html(
            letters_page(
                page,
                only,
                csrf=visit.csrf,
                now_ms=self._clock.now_ms(),
                notices=visit.session.take_notices(),
                dead=status.queue.dead,
            )
        )

    async def letter(self, visit: Visit) -> web.StreamResponse:
        """One dead letter; its content only when asked for."""
        content = visit.request.query.get("content") == "1"
        letter, status = await asyncio.gather(
            self._backend.letter(visit.request.match_info["id"], content=content), self._backend.status()
        )
        return html(
            letter_page(
                letter,
                csrf=visit.csrf,
                now_ms=self._clock.now_ms(),
                notices=visit.session.take_notices(),
                dead=status.queue.dead,
            )
        )

    async def _look(self) -> Snapshot:
        status, letters = await asyncio.gather(
            self._backend.status(),
            self._backend.letters(session=None, code=None, limit=BRIEF, cursor=None),
        )
        now_s = self._clock.monotonic_s()
        return Snapshot(
            status=status,
            health=self._backend.health(),
            letters=letters,
            identities=identities(self._backend.hosts),
            samples=self._history.since(now_s),
            checked=self._actions.checked,
            now_ms=self._clock.now_ms(),
            now_s=now_s,
        )

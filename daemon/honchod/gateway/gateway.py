"""The way to one Honcho workspace: set a session up, send, look up, ask whether it is there.

Every call ends in a value or in `CallFailed`; nothing of the SDK leaves this room. A call has one deadline
for all of it, so that a server that drips bytes cannot hold it for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from honcho.api_types import MessageCreateParams, MessageResponse, SessionPeerConfig
from honcho.base import PeerBase
from honcho.message import Message
from honcho.pagination import AsyncPage
from honcho.session import Session

from honchod.errors import CallFailed, CallReason
from honchod.gateway.conclusions import Conclusions
from honchod.gateway.dialogue import Dialogue
from honchod.gateway.excerpts import Excerpts
from honchod.gateway.failures import translate
from honchod.gateway.memory import Memory
from honchod.gateway.sdk import Client, Seen, watch
from honchod.gateway.values import NO_SCOPE, OWN_ID, Endpoint, Member, Outgoing, Setup

T = TypeVar("T")
Page = AsyncPage[MessageResponse, Message]
PAGE: Final = 100
"""Honcho's own bound on a page."""
CREATED: Final = 201
CONTENT_CHARS: Final = 25_000
"""Honcho's own bound on the content of a message."""
NO_UPLOAD: Final = frozenset({404, 405, 415, 501})
"""How a server says that it takes no files."""


class Gateway:
    """One workspace of one destination. Calls of several sessions may run at once."""

    def __init__(
        self, endpoint: Endpoint, *, timeout_s: float, before: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """``before`` is awaited before each request goes out (pacing)."""
        self.endpoint = endpoint
        self._timeout_s = timeout_s
        self._client = Client(endpoint, timeout_s=timeout_s, before=before)
        self._workspace_seen = False
        self.requests = 0
        self.memory = Memory(self._client.honcho, self._call)
        self.conclusions = Conclusions(self._client.honcho, self._call)
        self.excerpts = Excerpts(self._client.honcho, self._call)
        self.dialogue = Dialogue(self._client.honcho)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self) -> None:
        """Get or make the workspace: an authenticated call that shows whether Honcho is there."""
        await self._call(self._client.honcho.aio.get_metadata)
        self._workspace_seen = True

    async def prepare(self, session: str, members: Sequence[Member], scope: str | None) -> Setup:
        """Make the session with its members and their flags, in one canonical order.

        The workspace goes first and alone: a workspace whose first request is a rejected one answers 409
        for minutes. It is asked for again only after a call has failed. Members that were there keep the
        server's flags; where it has none (members made by a bare message), ours are set. A server that knows
        no scopes gets the session without.
        """
        if not self._workspace_seen:
            await self.ask()
        ordered = sorted(members, key=lambda member: member.peer)
        try:
            created = await self._session(session, ordered, scope)
        except CallFailed as failure:
            if scope is None or failure.status not in NO_SCOPE:
                raise
            scope = None
            created = await self._session(session, ordered, None)
        if not created:
            for member in ordered:
                await self._fill_in(session, member)
        return Setup(created=created, scope=scope)

    async def send(self, session: str, batch: Sequence[Outgoing]) -> tuple[str, ...]:
        """Store a batch (1 to 100 messages, all or nothing). Returns the ids Honcho gave them, in order."""
        try:
            messages = [
                MessageCreateParams(
                    content=message.content,
                    peer_id=message.peer,
                    metadata=dict(message.metadata),
                    created_at=datetime.fromtimestamp(message.created_at_ms / 1000, UTC),
                )
                for message in batch
            ]
        except (ValueError, OverflowError, OSError):
            raise CallFailed(CallReason.LOCAL) from None
        stored = await self._call(lambda: self._of(session).aio.add_messages(messages))
        if len(stored) != len(batch):
            raise CallFailed(CallReason.NOT_HONCHO, status=CREATED)
        return tuple(message.id for message in stored)

    async def upload(self, session: str, file: Outgoing, name: str) -> tuple[str, ...]:
        """Store a text as a file of its peer. Returns the ids of the messages that Honcho made of it.

        All of them carry the file's metadata, so that `find` finds it. A server that takes no files gets the
        same messages as a batch.
        """
        document = (name, file.content.encode(), "text/plain")
        created_at = datetime.fromtimestamp(file.created_at_ms / 1000, UTC)
        try:
            stored = await self._call(
                lambda: self._of(session).aio.upload_file(
                    document, file.peer, metadata=dict(file.metadata), created_at=created_at
                )
            )
        except CallFailed as failure:
            if failure.status not in NO_UPLOAD:
                raise
            pieces = [
                replace(file, content=file.content[start : start + CONTENT_CHARS])
                for start in range(0, len(file.content), CONTENT_CHARS)
            ]
            return await self.send(session, pieces)
        if not stored:
            raise CallFailed(CallReason.NOT_HONCHO, status=CREATED)
        return tuple(message.id for message in stored)

    async def find(self, session: str, ids: Sequence[str]) -> dict[str, str]:
        """Which of these messages of ours the session holds: their id to Honcho's.

        Asks by metadata; a server without that filter, or one that ignores it, is read page by page from
        the newest message.
        """
        wanted = frozenset(ids)
        try:
            page = await self._page(session, filters={"metadata": {OWN_ID: {"in": list(ids)}}})
        except CallFailed as failure:
            if failure.status not in (400, 422):
                raise
            return await self._scan(session, wanted)
        found: dict[str, str] = {}
        while page is not None:
            for message in page.items:
                own = _own_id(message)
                if own not in wanted:
                    return await self._scan(session, wanted)
                found.setdefault(own, message.id)
            page = await self._next(page)
        return found

    async def _scan(self, session: str, wanted: frozenset[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        page = await self._page(session, reverse=True)
        while page is not None:
            for message in page.items:
                own = _own_id(message)
                if own in wanted:
                    # The newest is read first: an older copy wins, as it does with the filter.
                    found[own] = message.id
            page = await self._next(page) if len(found) < len(wanted) else None
        return found

    async def _page(
        self, session: str, *, filters: dict[str, object] | None = None, reverse: bool = False
    ) -> Page | None:
        return await self._call(
            lambda: self._of(session).aio.messages(filters=filters, size=PAGE, reverse=reverse)
        )

    async def _next(self, page: Page) -> Page | None:
        return await self._call(page.get_next_page)

    async def _session(self, session: str, members: Sequence[Member], scope: str | None) -> bool:
        peers: list[PeerBase | str | tuple[PeerBase | str, SessionPeerConfig]] = [
            (
                member.peer,
                SessionPeerConfig(observe_me=member.observe_me, observe_others=member.observe_others),
            )
            for member in members
        ]
        seen = watch()
        await self._call(
            lambda: self._client.honcho.aio.session(
                session, peers=peers, scopes=None if scope is None else [scope]
            ),
            seen,
        )
        return seen.status == CREATED

    async def _fill_in(self, session: str, member: Member) -> None:
        """Give a member its flags where the server holds none for it."""
        config = await self._call(lambda: self._of(session).aio.get_peer_configuration(member.peer))
        if config.observe_me is None and config.observe_others is None:
            ours = SessionPeerConfig(observe_me=member.observe_me, observe_others=member.observe_others)
            await self._call(lambda: self._of(session).aio.set_peer_configuration(member.peer, ours))

    def _of(self, session: str) -> Session:
        """The SDK's session object, without a request."""
        return Session(session, self._client.honcho)

    async def _call(
        self, call: Callable[[], Awaitable[T]], seen: Seen | None = None, *, timeout_s: float | None = None
    ) -> T:
        seen = watch() if seen is None else seen
        self.requests += 1
        try:
            async with asyncio.timeout(2 * (timeout_s or self._timeout_s)):
                return await call()
        except Exception as error:
            self._workspace_seen = False
            raise translate(error, status=seen.status, retry_after=seen.retry_after) from None


def _own_id(message: Message | MessageResponse) -> str:
    """The id that we gave a message; empty for one of somebody else, whatever stands at that key."""
    own = message.metadata.get(OWN_ID)
    return own if isinstance(own, str) else ""

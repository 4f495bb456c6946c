"""Who the AI peer is, and what was known of the user before: persona and memory files, taken in once.

A persona file becomes a message of the AI peer (Honcho learns a peer from what it says); a memory file is
uploaded as a file of the user peer. Both are stripped, redacted and queued like what is said in a session.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from honchod.capture.chunk import CONTINUED
from honchod.capture.naming import NameRedactor
from honchod.capture.pipeline import Captured, Pipeline
from honchod.capture.redact import Redactor
from honchod.capture.seed_requests import SeedRequest, SeedResult
from honchod.capture.sessions import lane_of
from honchod.clock import Clock
from honchod.errors import NoIdentity, TooLarge
from honchod.identity.choices import Author, MemoryMode
from honchod.identity.host import Host, Hosts
from honchod.identity.place import Places
from honchod.ids import uuid7
from honchod.outbox.ledger import Once
from honchod.outbox.store import Outbox
from honchod.outbox.values import FILE_NAME, Append, Kind, NewEvent

FILE_CHARS_MAX: Final = 1_000_000
"""Honcho cuts a file into messages in one transaction: it must not take too long."""

_TAG: Final = "ai_identity_seed"
_OPENS_TAG: Final = re.compile(rf"<(?=\s*/?\s*{_TAG})", re.IGNORECASE)
_NO_BRACKET: Final = "\u2039"
"""Stands for the bracket of a tag in the file itself, which must not close or forge ours."""
_LEAST_CHARS: Final = 50
"""As much of a file goes into one message, however small the host wants its messages."""
_OPENING: Final = "<{tag}>\n<source>{source}</source>\n\n"
_CLOSING: Final = "\n</{tag}>"
_NOT_IN_A_SOURCE: Final = re.compile(r"[<>\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class _Desk:
    """What requests are worked on with."""

    hosts: Hosts
    redactor: Redactor | None
    names: NameRedactor


class Seeds:
    """Takes persona and memory files in. `use` replaces the settings for the requests that come after it."""

    def __init__(
        self,
        outbox: Outbox,
        hosts: Hosts,
        places: Places,
        redactor: Redactor | None,
        names: NameRedactor,
        *,
        clock: Clock,
    ) -> None:
        self._outbox = outbox
        self._places = places
        self._clock = clock
        self.use(hosts, redactor, names)
        self.on_append: Callable[[], None] = lambda: None
        """Called after each request that stored something."""

    def use(self, hosts: Hosts, redactor: Redactor | None, names: NameRedactor) -> None:
        """Work with these from now on."""
        self._desk = _Desk(hosts, redactor, names)

    async def identity(self, request: SeedRequest, *, uid: int, operator: bool) -> SeedResult:
        """Take a persona file of the AI peer in, once; on disk when it returns.

        Raises `UnknownHost`, `RedactionFailed`, `TooLarge`, `QuotaUsedUp` and `OutboxFull`.
        """
        host = self._desk.hosts.named(request.host)
        if host.modes.agent is MemoryMode.LOCAL or not host.enabled:
            return _skipped(self._session(host, request), host)
        opening = _OPENING.format(tag=_TAG, source=self._source(request))
        closing = _CLOSING.format(tag=_TAG)
        room = host.modes.message_max_chars - len(opening) - len(closing)
        pieces = await self._pieces(host, request.content, max(room, _LEAST_CHARS))
        if pieces is None:
            return SeedResult(self._session(host, request), "skipped", reason="empty")
        wrapped = tuple(f"{opening}{_OPENS_TAG.sub(_NO_BRACKET, piece).strip()}{closing}" for piece in pieces)
        event = self._event(Kind.IDENTITY, wrapped, host.peers.ai, _digest(pieces))
        return await self._append(host, request, event, uid=uid, operator=operator)

    async def file(self, request: SeedRequest, *, uid: int, operator: bool) -> SeedResult:
        """Take a memory file of the user in, once; on disk when it returns.

        Raises `NoIdentity` where the host declares no user, and what `identity` raises.
        """
        host = self._desk.hosts.named(request.host)
        if host.peers.user is None:
            raise NoIdentity("a memory file belongs to the declared user: set peerName")
        if host.modes.user is MemoryMode.LOCAL or not host.enabled:
            return _skipped(self._session(host, request), host)
        pieces = await self._pieces(host, request.content, FILE_CHARS_MAX)
        if pieces is None:
            return SeedResult(self._session(host, request), "skipped", reason="empty")
        metadata = msgspec.json.encode({FILE_NAME: self._source(request)}).decode()
        event = self._event(Kind.FILE, pieces, host.peers.user, _digest(pieces), metadata)
        return await self._append(host, request, event, uid=uid, operator=operator)

    async def _pieces(self, host: Host, content: str, max_chars: int) -> tuple[str, ...] | None:
        """The content as it may be stored; None when nothing is left of it."""
        if len(content) > FILE_CHARS_MAX:
            raise TooLarge(f"content: over {FILE_CHARS_MAX} characters")
        pipeline = Pipeline(host.name, self._desk.redactor, max_chars)
        captured = await asyncio.get_running_loop().run_in_executor(
            None, pipeline.run, content, Author.IMPORT.value, None
        )
        return captured.pieces if isinstance(captured, Captured) else None

    def _event(
        self, kind: Kind, pieces: tuple[str, ...], peer: str, digest: bytes, metadata: str | None = None
    ) -> NewEvent:
        return NewEvent(
            message_id=f"{kind}-{uuid7()}",
            pieces=pieces,
            peer=peer,
            role="user" if kind is Kind.FILE else "assistant",
            author=Author.IMPORT.value,
            created_at_ms=self._clock.now_ms(),
            digest=digest,
            metadata=metadata,
            kind=kind,
            fresh_id=True,
        )

    async def _append(
        self, host: Host, request: SeedRequest, event: NewEvent, *, uid: int, operator: bool
    ) -> SeedResult:
        place = self._places.of(host, request.located(host.name))
        append = Append(lane_of(place), (event,), uid, scope=place.scope, limited=not operator)
        appended = await self._outbox.append_once(Once(append, again=request.again))
        self.on_append()
        status: Literal["duplicate", "queued"] = "duplicate" if appended.duplicate else "queued"
        return SeedResult(place.session, status, id=appended.message_id, parts=appended.parts)

    def _session(self, host: Host, request: SeedRequest) -> str:
        return self._places.of(host, request.located(host.name)).session

    def _source(self, request: SeedRequest) -> str:
        return _NOT_IN_A_SOURCE.sub(" ", self._desk.names.hide_once(request.source)).strip() or "unnamed"


def _skipped(session: str, host: Host) -> SeedResult:
    return SeedResult(session, "skipped", reason="mode_local" if host.enabled else "capture_off")


def _digest(pieces: tuple[str, ...]) -> bytes:
    """The hash of the whole content, however it was cut."""
    first, *rest = pieces
    return hashlib.sha256("".join((first, *(piece[len(CONTINUED) :] for piece in rest))).encode()).digest()

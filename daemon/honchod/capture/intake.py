"""From a request on the socket to events in the outbox: who speaks, where, cleaned, redacted, cut, stored."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from honchod.capture.limits import check_metadata, parse_created_at
from honchod.capture.pipeline import Captured, Pipeline
from honchod.capture.redact import Redactor
from honchod.capture.requests import IncomingMessage, WriteItem, WriteRequest, WriteResult
from honchod.clock import Clock
from honchod.errors import Unprocessable
from honchod.identity.git import git_top
from honchod.identity.host import Host, Hosts
from honchod.identity.names import session_id
from honchod.identity.peers import PeerChoice, resolve_peer
from honchod.identity.scopes import scope_id
from honchod.identity.sessions import session_key
from honchod.ids import uuid7
from honchod.outbox.store import Outbox
from honchod.outbox.values import Append, Appended, LaneKey, NewEvent

IN_LOOP_CHARS: Final = 32_768
"""More text than this is cleaned and redacted in a thread: the loop has others to serve."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a request becomes: the events to store, and for each message an event or its final answer."""

    events: tuple[NewEvent, ...]
    plan: tuple[NewEvent | WriteItem, ...]


class Intake:
    """Takes requests in. `use` replaces hosts and redaction for the requests that come after it."""

    def __init__(self, outbox: Outbox, hosts: Hosts, redactor: Redactor | None, *, clock: Clock) -> None:
        self._outbox = outbox
        self._clock = clock
        self._hosts = hosts
        self._redactor = redactor
        self._pipelines: dict[str, Pipeline] = {}
        self.on_append: Callable[[], None] = lambda: None
        """Called after each request that stored something."""

    def use(self, hosts: Hosts, redactor: Redactor | None) -> None:
        """Work with these from now on."""
        self._hosts, self._redactor, self._pipelines = hosts, redactor, {}

    async def write(self, request: WriteRequest, *, uid: int, operator: bool) -> WriteResult:
        """Store a request, all or nothing; on disk when it returns.

        Raises `UnknownHost`, `NoIdentity`, `Unprocessable`, `BadRequest`, `RedactionFailed`, `IdConflict`,
        `QuotaUsedUp` and `OutboxFull`, and then nothing of it is stored.
        """
        host = self._hosts.named(request.host)
        if not request.messages:
            raise Unprocessable("messages: expected at least one")
        key = session_key(host, request.session, request.locator, git_top)
        lane = LaneKey(host.name, host.workspace, session_id(key.key))
        scope = scope_id(host, request.scope, request.locator, git_top)
        pipeline = self._pipeline(host)
        if sum(len(message.content) for message in request.messages) > IN_LOOP_CHARS:
            loop = asyncio.get_running_loop()
            taken = await loop.run_in_executor(None, self._take, host, request, pipeline)
        else:
            taken = self._take(host, request, pipeline)
        stored: tuple[Appended, ...] = ()
        if taken.events:
            stored = await self._outbox.append(
                Append(lane, taken.events, uid, scope=scope, limited=not operator)
            )
            self.on_append()
        answers = (
            WriteItem(one.message_id, "duplicate" if one.duplicate else "queued", parts=one.parts)
            for one in stored
        )
        return WriteResult(lane.session, list(_answers(taken.plan, answers)))

    def _pipeline(self, host: Host) -> Pipeline:
        pipeline = self._pipelines.get(host.name)
        if pipeline is None:
            pipeline = self._pipelines[host.name] = Pipeline(
                host.name, self._redactor, host.modes.message_max_chars
            )
        return pipeline

    def _take(self, host: Host, request: WriteRequest, pipeline: Pipeline) -> _Taken:
        now_ms = self._clock.now_ms()
        plan = tuple(
            self._one(host, message, request.group, pipeline, now_ms) for message in request.messages
        )
        return _Taken(tuple(item for item in plan if isinstance(item, NewEvent)), plan)

    def _one(
        self, host: Host, message: IncomingMessage, group: bool, pipeline: Pipeline, now_ms: int
    ) -> NewEvent | WriteItem:
        message_id = message.id if message.id is not None else uuid7()
        check_metadata(message.metadata)
        created_at_ms = now_ms if message.created_at is None else parse_created_at(message.created_at)
        choice = resolve_peer(host, message, group=group)
        if not isinstance(choice, PeerChoice):
            return WriteItem(message_id, "skipped", reason=choice.reason.value)
        captured = pipeline.run(message.content, choice.author.value, message.metadata)
        if not isinstance(captured, Captured):
            return WriteItem(message_id, "skipped", reason=captured.reason)
        digest = hashlib.sha256()
        for piece in captured.pieces:
            digest.update(piece.encode())
            digest.update(b"\0")
        return NewEvent(
            message_id=message_id,
            pieces=captured.pieces,
            peer=choice.peer,
            role=message.role,
            author=choice.author.value,
            created_at_ms=created_at_ms,
            digest=digest.digest(),
            metadata=msgspec.json.encode(captured.metadata).decode() if captured.metadata else None,
            fresh_id=message.id is None,
        )


def _answers(plan: tuple[NewEvent | WriteItem, ...], stored: Iterator[WriteItem]) -> Iterator[WriteItem]:
    for item in plan:
        yield item if isinstance(item, WriteItem) else next(stored)

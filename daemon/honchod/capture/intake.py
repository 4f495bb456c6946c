"""From a request on the socket to events in the outbox: who speaks, where, cleaned, redacted, cut, stored."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from honchod.capture.limits import check_metadata, parse_created_at
from honchod.capture.naming import NameRedactor
from honchod.capture.pipeline import Captured, Pipeline
from honchod.capture.redact import Redactor
from honchod.capture.requests import IncomingMessage, WriteItem, WriteRequest, WriteResult
from honchod.capture.sessions import lane_of
from honchod.clock import Clock
from honchod.errors import Unprocessable
from honchod.identity import modes
from honchod.identity.choices import Author
from honchod.identity.host import Host, Hosts
from honchod.identity.peers import PeerChoice, resolve_peer
from honchod.identity.place import Place, Places
from honchod.ids import uuid7
from honchod.outbox.store import Outbox
from honchod.outbox.values import Append, Appended, NewEvent

IN_LOOP_CHARS: Final = 32_768
"""More text than this is cleaned and redacted in a thread: the loop has others to serve."""
MESSAGE_CHARS: Final = 400
"""What a message costs beside its content, in characters of content: its names are redacted too."""


class _Planned(msgspec.Struct, frozen=True):
    """One message of a request: the caller's id, and the event to store or the final answer."""

    caller_id: str
    outcome: NewEvent | WriteItem


@dataclass(frozen=True, slots=True)
class _Desk:
    """What a request is worked on with, the same from its beginning to its end whatever is reloaded."""

    host: Host
    pipeline: Pipeline
    names: NameRedactor


class Spoken(msgspec.Struct, frozen=True):
    """What a stored request says of its session: the person who spoke last in it, if anybody did, and in
    which words; and whether a turn has ended.
    """

    place: Place
    peer: str | None
    text: str | None
    turn_ended: bool


class Intake:
    """Takes requests in. `use` replaces hosts and redaction for the requests that come after it."""

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
        """Called after each request that made something due, or may have."""
        self.on_spoken: Callable[[Spoken], None] = lambda spoken: None
        """Called after each request that was taken in."""

    def use(self, hosts: Hosts, redactor: Redactor | None, names: NameRedactor) -> None:
        """Work with these from now on."""
        self._hosts, self._redactor, self._names = hosts, redactor, names
        self._pipelines: dict[str, Pipeline] = {}

    async def write(self, request: WriteRequest, *, uid: int, operator: bool) -> WriteResult:
        """Store a request, all or nothing; on disk when it returns.

        Raises `UnknownHost`, `NoIdentity`, `Unprocessable`, `BadRequest`, `RedactionFailed`, `IdConflict`,
        `QuotaUsedUp` and `OutboxFull`, and then nothing of it is stored.
        """
        host = self._hosts.named(request.host)
        if not request.messages:
            raise Unprocessable("messages: expected at least one")
        place = self._places.of(host, request)
        lane = lane_of(place)
        desk = _Desk(host, self._pipeline(host), self._names)
        if _cost_chars(request) > IN_LOOP_CHARS:
            loop = asyncio.get_running_loop()
            plan = await loop.run_in_executor(None, self._plan, request, desk)
        else:
            plan = self._plan(request, desk)
        events = tuple(one.outcome for one in plan if isinstance(one.outcome, NewEvent))
        stored: tuple[Appended, ...] = ()
        held = modes.held(host)
        if events:
            stored = await self._outbox.append(
                Append(
                    lane,
                    events,
                    uid,
                    scope=place.scope,
                    limited=not operator,
                    due_in_ms=None if held else 0,
                    every_turns=held.every_turns if held else None,
                    turn_ends=request.turn_end,
                )
            )
            self.on_append()
        elif held and request.turn_end:
            await self._outbox.end_turn(lane, held.every_turns)
            self.on_append()
        self.on_spoken(_spoken(place, events, turn_ended=request.turn_end))
        return WriteResult(lane.session, list(_answers(plan, iter(stored))))

    def _pipeline(self, host: Host) -> Pipeline:
        pipeline = self._pipelines.get(host.name)
        if pipeline is None:
            pipeline = self._pipelines[host.name] = Pipeline(
                host.name, self._redactor, host.modes.message_max_chars
            )
        return pipeline

    def _plan(self, request: WriteRequest, desk: _Desk) -> tuple[_Planned, ...]:
        now_ms = self._clock.now_ms()
        return tuple(_one(desk, message, request.group, now_ms) for message in request.messages)


def _spoken(place: Place, events: Sequence[NewEvent], *, turn_ended: bool) -> Spoken:
    said = next((one for one in reversed(events) if one.author == Author.HUMAN), None)
    if said is None:
        return Spoken(place, None, None, turn_ended)
    return Spoken(place, said.peer, "".join(said.pieces), turn_ended)


def _cost_chars(request: WriteRequest) -> int:
    return sum(len(message.content) + MESSAGE_CHARS for message in request.messages)


def _one(desk: _Desk, message: IncomingMessage, group: bool, now_ms: int) -> _Planned:
    caller_id = message.id if message.id is not None else uuid7()
    return _Planned(caller_id, _outcome(desk, message, caller_id, group, now_ms))


def _outcome(
    desk: _Desk, message: IncomingMessage, message_id: str, group: bool, now_ms: int
) -> NewEvent | WriteItem:
    check_metadata(message.metadata)
    created_at_ms = now_ms if message.created_at is None else parse_created_at(message.created_at)
    choice = resolve_peer(desk.host, _without_secrets(message, desk.names), group=group)
    if not isinstance(choice, PeerChoice):
        return WriteItem(message_id, "skipped", reason=choice.reason.value)
    captured = desk.pipeline.run(message.content, choice.author.value, message.metadata)
    if not isinstance(captured, Captured):
        return WriteItem(message_id, "skipped", reason=captured.reason)
    digest = hashlib.sha256()
    for piece in captured.pieces:
        digest.update(piece.encode())
        digest.update(b"\0")
    return NewEvent(
        message_id=message_id if message.id is None else desk.names.hide_once(message_id),
        pieces=captured.pieces,
        peer=choice.peer,
        role=message.role,
        author=choice.author.value,
        created_at_ms=created_at_ms,
        digest=digest.digest(),
        metadata=msgspec.json.encode(captured.metadata).decode() if captured.metadata else None,
        fresh_id=message.id is None,
    )


def _without_secrets(message: IncomingMessage, names: NameRedactor) -> IncomingMessage:
    """The message with the secrets in its peer's names hidden."""
    named = (message.peer, message.runtime_user, message.runtime_user_alt)
    if not any(named):
        return message
    peer, runtime_user, runtime_user_alt = (name and names.hide(name) for name in named)
    return msgspec.structs.replace(
        message, peer=peer, runtime_user=runtime_user, runtime_user_alt=runtime_user_alt
    )


def _answers(plan: Iterable[_Planned], stored: Iterator[Appended]) -> Iterator[WriteItem]:
    """The answer for each message, under the id that its caller knows."""
    for one in plan:
        if isinstance(one.outcome, WriteItem):
            yield one.outcome
            continue
        appended = next(stored)
        status: Literal["duplicate", "queued"] = "duplicate" if appended.duplicate else "queued"
        yield WriteItem(one.caller_id, status, parts=appended.parts)

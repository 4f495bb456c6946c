"""From a request on the socket to events in the outbox: planned, stored, answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import msgspec

from honchod.begun import Begun
from honchod.capture.naming import NameRedactor
from honchod.capture.plan import Desk, Planned
from honchod.capture.redact import Redactor
from honchod.capture.requests import IncomingMessage, WriteItem, WriteRequest, WriteResult
from honchod.capture.sessions import lane_of
from honchod.clock import Clock
from honchod.errors import Unprocessable
from honchod.identity import modes
from honchod.identity.choices import Author
from honchod.identity.host import Host, Hosts
from honchod.identity.modes import Held
from honchod.identity.place import Place, Places
from honchod.outbox.store import Outbox
from honchod.outbox.values import Append, Appended, NewEvent

IN_LOOP_CHARS: Final = 2_048
"""More text than this is cleaned and redacted in a thread: the loop has others to serve."""
EASY_IN_LOOP_CHARS: Final = 32_768
"""So much of it when one look at all tells that little is to be done."""
EASY_IN_LOOP_MESSAGES: Final = 128
MESSAGE_CHARS: Final = 400
"""What a message costs beside its content, in characters of content: its names are redacted too."""
_HUMAN: Final = Author.HUMAN.value


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
        self.on_append: Callable[[], object] = lambda: None
        """Called after each request that made something due, or may have."""
        self.on_spoken: Callable[[Spoken], None] = lambda spoken: None
        """Called after each request that was taken in."""

    def use(self, hosts: Hosts, redactor: Redactor | None, names: NameRedactor) -> None:
        """Work with these from now on."""
        self._hosts, self._redactor, self._names = hosts, redactor, names
        self._desks: dict[str, Desk] = {}

    async def write(self, request: WriteRequest, *, uid: int, operator: bool) -> WriteResult:
        """Store a request, all or nothing; on disk when it returns.

        Raises `UnknownHost`, `NoIdentity`, `Unprocessable`, `BadRequest`, `RedactionFailed`, `IdConflict`,
        `QuotaUsedUp` and `OutboxFull`, and then nothing of it is stored.
        """
        begun = self.begin(request, uid=uid, operator=operator)
        if begun is not None:
            return begun.result(await begun.awaited)
        host = self._hosts.named(request.host)
        place, desk, held = self._places.of(host, request), self._desk(host), modes.held(host)
        if _is_long(request.messages):
            loop = asyncio.get_running_loop()
            plan = await loop.run_in_executor(None, self._plan, desk, request)
        else:
            plan = self._plan(desk, request)
        append = _append(place, request, plan, held, uid=uid, operator=operator)
        stored: tuple[Appended, ...] = ()
        if append.events:
            stored = await self._outbox.append(append)
        elif held and request.turn_end:
            await self._outbox.end_turn(append.lane, held.every_turns)
        return self._taken(request, place, plan, append.events, stored)

    def begin(self, request: WriteRequest, *, uid: int, operator: bool) -> Begun[WriteResult] | None:
        """As `write`, for a request that waits for its commit alone, as nearly all do; None for any other."""
        host = self._hosts.named(request.host)
        if not request.messages:
            raise Unprocessable("messages: expected at least one")
        desk, is_long = self._desk(host), _is_long(request.messages)
        if modes.held(host) is not None or (is_long and not _is_easy(desk, request.messages)):
            return None
        place = self._places.of(host, request)
        plan = self._plan(desk, request, easy=is_long)
        append = _append(place, request, plan, None, uid=uid, operator=operator)
        if append.events:
            stored = self._outbox.begin_append(append)
        else:
            stored = asyncio.get_running_loop().create_future()
            stored.set_result(())
        return Begun(stored, partial(self._taken, request, place, plan, append.events))

    def _taken(
        self,
        request: WriteRequest,
        place: Place,
        plan: Sequence[Planned],
        events: Sequence[NewEvent],
        stored: tuple[Appended, ...],
    ) -> WriteResult:
        """What is told of a request that is on disk, to whoever listens and to its caller."""
        if events or request.turn_end:
            self.on_append()
        self.on_spoken(_spoken(place, events, turn_ended=request.turn_end))
        return WriteResult(place.session, _answers(request.messages, plan, iter(stored)))

    def _desk(self, host: Host) -> Desk:
        desk = self._desks.get(host.name)
        if desk is None:
            desk = self._desks[host.name] = Desk(host, self._redactor, self._names)
        return desk

    def _plan(self, desk: Desk, request: WriteRequest, *, easy: bool = False) -> list[Planned]:
        now_ms = self._clock.now_ms()
        return desk.plan(request.messages, group=request.group, now_ms=now_ms, easy=easy)


def _append(
    place: Place,
    request: WriteRequest,
    plan: Iterable[Planned],
    held: Held | None,
    *,
    uid: int,
    operator: bool,
) -> Append:
    """What of a request is to be stored."""
    return Append(
        lane_of(place),
        tuple([one for one in plan if isinstance(one, NewEvent)]),
        uid,
        scope=place.scope,
        limited=not operator,
        due_in_ms=0 if held is None else None,
        every_turns=None if held is None else held.every_turns,
        turn_ends=request.turn_end,
    )


def _spoken(place: Place, events: Sequence[NewEvent], *, turn_ended: bool) -> Spoken:
    for event in reversed(events):
        if event.author == _HUMAN:
            return Spoken(place, event.peer, "".join(event.pieces), turn_ended)
    return Spoken(place, None, None, turn_ended)


def _is_long(messages: Sequence[IncomingMessage]) -> bool:
    return _chars(messages) + MESSAGE_CHARS * len(messages) > IN_LOOP_CHARS


def _is_easy(desk: Desk, messages: Sequence[IncomingMessage]) -> bool:
    return (
        len(messages) <= EASY_IN_LOOP_MESSAGES
        and _chars(messages) <= EASY_IN_LOOP_CHARS
        and desk.is_easy(messages)
    )


def _chars(messages: Sequence[IncomingMessage]) -> int:
    return sum([len(one.content) + (len(repr(one.metadata)) if one.metadata else 0) for one in messages])


def _answers(
    messages: Sequence[IncomingMessage], plan: Iterable[Planned], stored: Iterator[Appended]
) -> list[WriteItem]:
    """The answer for each message, under the id that its caller knows."""
    return [
        one if isinstance(one, WriteItem) else _answer(message.id, next(stored))
        for message, one in zip(messages, plan, strict=True)
    ]


def _answer(caller_id: str | None, appended: Appended) -> WriteItem:
    return WriteItem(
        appended.message_id if caller_id is None else caller_id,
        "duplicate" if appended.duplicate else "queued",
        appended.parts,
    )

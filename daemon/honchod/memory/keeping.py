"""Remembering and forgetting: the one through the outbox, the other wherever a conclusion is."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Final, Literal

import msgspec

from honchod.capture.pipeline import Captured, HidesSecrets, Pipeline
from honchod.clock import Clock
from honchod.delivery.routes import Route
from honchod.errors import HonchoAway, NotFound
from honchod.identity.choices import Author, MemoryMode
from honchod.identity.host import Host
from honchod.identity.place import Place
from honchod.ids import uuid7
from honchod.memory import tasks
from honchod.memory.arguments import CONCLUSION_CHARS_MAX
from honchod.memory.reach import Reach
from honchod.memory.results import ConcludeResult, ForgetResult
from honchod.memory.visit import Visit
from honchod.outbox.conclusions import ConclusionRow
from honchod.outbox.states import State
from honchod.outbox.store import Outbox
from honchod.outbox.values import OBSERVER, Append, Kind, LaneKey, NewEvent

REMOVE: Final = "remove the conclusion at Honcho"
DOUBT_RETRY_S: Final = 5.0
DOUBT_WAIT_S: Final = 2.0
TRIES: Final = 20
"""It may set out between the look and the removal; so often in a row it does not."""
DOUBT_LOOK_S: Final = 0.05
_ROOM: Final = 2
"""Hiding secrets and control tokens may make a text longer; it is never cut in two."""

ForgetCached = Callable[[str, str], Awaitable[int]]
"""Drops the cached answers of a destination and workspace; returns how many."""


class Keeping:
    """Queues conclusions and removes them. `use` replaces the redactor."""

    def __init__(
        self,
        outbox: Outbox,
        reach: Reach,
        redactor: HidesSecrets | None,
        forget_cached: ForgetCached,
        hosts_of: Callable[[str, str], tuple[str, ...]],
        *,
        clock: Clock,
    ) -> None:
        self._outbox = outbox
        self._reach = reach
        self._redactor = redactor
        self._forget_cached = forget_cached
        self._hosts_of = hosts_of
        self._clock = clock
        self.on_append: Callable[[], None] = lambda: None
        """Called after each conclusion that was stored."""

    def use(self, redactor: HidesSecrets | None) -> None:
        """Hide secrets this way from now on."""
        self._redactor = redactor

    async def conclude(self, visit: Visit, task: tasks.Conclude) -> ConcludeResult:
        """Take a conclusion in; on disk when it returns. The same again is a duplicate.

        Raises `NoIdentity`, `RedactionFailed`, `QuotaUsedUp` and `OutboxFull`.
        """
        host = visit.host
        sight = visit.sight(task.peer)
        reason = _skipped(host, is_ai=sight.target == host.peers.ai)
        if reason is not None:
            return ConcludeResult("skipped", reason=reason)
        content = await self._content(host, task.content)
        if content is None:
            return ConcludeResult("skipped", reason="empty")
        event = NewEvent(
            message_id=f"{Kind.CONCLUSION}-{uuid7()}",
            pieces=(content,),
            peer=sight.target,
            role="assistant" if sight.target == host.peers.ai else "user",
            author=Author.ASSISTANT.value,
            created_at_ms=self._clock.now_ms(),
            digest=_digest(sight.observer, sight.target, content),
            metadata=msgspec.json.encode({OBSERVER: sight.observer}).decode(),
            kind=Kind.CONCLUSION,
            fresh_id=True,
        )
        place = visit.place
        append = Append(_lane(place), (event,), visit.uid, scope=place.scope, limited=not visit.operator)
        appended = await self._outbox.conclude(append)
        self.on_append()
        return ConcludeResult("duplicate" if appended.duplicate else "queued", id=appended.message_id)

    async def forget(self, visit: Visit, task: tasks.Forget) -> ForgetResult:
        """Remove a conclusion wherever it is: in the queue, at Honcho, in cached answers.

        Raises `NotFound` where nobody knows the id, and `HonchoAway` while it is on its way or Honcho cannot
        be asked to remove it: then it is not forgotten, and is not said to be.
        """
        way = visit.way
        hosts = self._hosts_of(way.destination, visit.host.workspace)
        waiting = removed = 0
        seen = False
        for _ in range(TRIES):
            rows = await self._certain(task.conclusion_id, hosts, visit.host.workspace)
            seen = seen or bool(rows)
            for remote_id in _remote_ids(rows, task.conclusion_id):
                removed += await self._remove(way, remote_id)
            erased = await self._outbox.erase_conclusions([row.id for row in rows])
            waiting += erased.waiting
            if not erased.in_doubt:
                break
        else:
            raise _in_doubt()
        if not seen and not removed:
            raise NotFound("there is no conclusion of this id, neither here nor at Honcho")
        cached = await self._forget_cached(way.destination, visit.host.workspace)
        return ForgetResult(queued=waiting, cache=cached, remote=removed)

    async def _certain(
        self, conclusion_id: str, hosts: tuple[str, ...], workspace: str
    ) -> list[ConclusionRow]:
        """The rows of a conclusion, once none is in doubt: being on its way seldom lasts long."""
        waited_s = 0.0
        while True:
            rows = await self._outbox.conclusions_named(conclusion_id, hosts, workspace)
            if not any(row.in_doubt for row in rows):
                return rows
            if waited_s >= DOUBT_WAIT_S:
                raise _in_doubt()
            await asyncio.sleep(DOUBT_LOOK_S)
            waited_s += DOUBT_LOOK_S

    async def _remove(self, way: Route, remote_id: str) -> bool:
        return await self._reach.call(way, REMOVE, lambda gateway: gateway.conclusions.delete(remote_id))

    async def _content(self, host: Host, content: str) -> str | None:
        """The conclusion as it may be stored, in one piece; None when nothing is left of it."""
        pipeline = Pipeline(host.name, self._redactor, _ROOM * CONCLUSION_CHARS_MAX)
        captured = await asyncio.get_running_loop().run_in_executor(
            None, pipeline.run, content, Author.ASSISTANT.value, None
        )
        return captured.pieces[0].strip() if isinstance(captured, Captured) else None


def _skipped(host: Host, *, is_ai: bool) -> Literal["mode_local", "capture_off"] | None:
    """Why nothing of this peer goes to Honcho; None when it does. ``saveMessages`` has no say in it."""
    if not host.enabled:
        return "capture_off"
    mode = host.modes.agent if is_ai else host.modes.user
    return "mode_local" if mode is MemoryMode.LOCAL else None


def _lane(place: Place) -> LaneKey:
    return LaneKey(place.name.host, place.name.workspace, place.session)


def _digest(observer: str, target: str, content: str) -> bytes:
    return hashlib.sha256(f"{observer}\0{target}\0{content}".encode()).digest()


def _remote_ids(rows: list[ConclusionRow], asked: str) -> list[str]:
    """What to remove at Honcho: what our rows became there, or the id itself where no row has it."""
    if not rows:
        return [asked]
    return [row.remote_id for row in rows if row.state is State.DELIVERED and row.remote_id is not None]


def _in_doubt() -> HonchoAway:
    return HonchoAway(
        "forget: this conclusion is on its way to Honcho, and nobody can say yet whether it has arrived; "
        "it is not forgotten, try again later",
        retry_after_s=DOUBT_RETRY_S,
    )

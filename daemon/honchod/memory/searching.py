"""Searching: Honcho's memory, and before it what was said here and is not there yet."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from honchod.delivery.routes import Route
from honchod.errors import HonchoAway, HonchoRefused, Problem
from honchod.gateway import values
from honchod.memory import tasks
from honchod.memory.reach import Reach
from honchod.memory.results import Item, Items
from honchod.memory.tasks import Where
from honchod.memory.veil import Veil
from honchod.memory.visit import Visit
from honchod.outbox.search import Sought, WaitingRow
from honchod.outbox.store import Outbox
from honchod.outbox.values import Kind

if TYPE_CHECKING:
    from honchod.gateway.gateway import Gateway

T = TypeVar("T")
HostsOf = Callable[[str, str], tuple[str, ...]]
"""The hosts that share a destination and a workspace: what one of them says, the others will find too."""

LIST = "list conclusions"
SEARCH = "search"
WAIT_S: Final = 5.0
"""What waits here need not wait longer for what Honcho has."""


class Searching:
    """Finds conclusions and messages, at Honcho and in the outbox."""

    def __init__(self, outbox: Outbox, reach: Reach, veil: Veil, hosts_of: HostsOf) -> None:
        self._outbox = outbox
        self._reach = reach
        self._veil = veil
        self._hosts_of = hosts_of

    async def search(self, visit: Visit, task: tasks.Search) -> Items:
        """What fits the query. What waits here stands alone while Honcho is away.

        Raises a Problem where Honcho failed and nothing waits that fits.
        """
        query = await self._veil.query(task.query)
        waiting, remote = await asyncio.gather(
            self._outbox.search(self._sought(visit, task, query)),
            self._remote(visit, task, query),
            return_exceptions=True,
        )
        if isinstance(waiting, BaseException):
            raise waiting
        return await self._items(waiting, remote, items=task.items, chars=task.chars)

    async def listed(self, visit: Visit, task: tasks.ListConclusions) -> Items:
        """What was concluded of a peer: what waits first, then Honcho's. Raises as `search` does."""
        if task.query is not None:
            chars = task.items * 1_000
            return await self.search(
                visit, tasks.Search(task.query, task.peer, Where.CONCLUSIONS, task.items, chars)
            )
        sight = visit.sight(task.peer)
        waiting, remote = await asyncio.gather(
            self._outbox.waiting_conclusions(
                sight.target, self._hosts(visit), visit.host.workspace, task.items
            ),
            self._remembered(visit.way, LIST, lambda gateway: gateway.conclusions.latest(sight, task.items)),
            return_exceptions=True,
        )
        if isinstance(waiting, BaseException):
            raise waiting
        found = remote if isinstance(remote, BaseException) else [_concluded(sight, one) for one in remote]
        return await self._items(waiting, found, items=task.items, chars=task.items * 1_000)

    def _hosts(self, visit: Visit) -> tuple[str, ...]:
        return self._hosts_of(visit.way.destination, visit.host.workspace)

    def _sought(self, visit: Visit, task: tasks.Search, query: str) -> Sought:
        session = visit.place.session if task.where is Where.SESSION else None
        about = task.where in (Where.KNOWN, Where.CONCLUSIONS)
        return Sought(
            query=query,
            hosts=self._hosts(visit),
            workspace=visit.host.workspace,
            session=session,
            peer=visit.target(task.peer) if about else None,
            kind=Kind.CONCLUSION if task.where is Where.CONCLUSIONS else None,
            limit=task.items,
        )

    async def _remote(self, visit: Visit, task: tasks.Search, query: str) -> list[Item]:
        way, limit = visit.way, task.items
        if task.where in (Where.SESSION, Where.WORKSPACE):
            of = visit.place.session
            where = values.Where(task.where.value)
            said = await self._remembered(
                way,
                SEARCH,
                lambda gateway: gateway.excerpts.near(query, where, of, limit, scope=task.scope),
            )
            return [_said(one) for one in said]
        sight = visit.sight(task.peer)
        concluded = await self._remembered(
            way, SEARCH, lambda gateway: gateway.conclusions.near(sight, query, limit)
        )
        found = [_concluded(sight, one) for one in concluded]
        if task.where is Where.KNOWN:
            said = await self._remembered(
                way,
                SEARCH,
                lambda gateway: gateway.excerpts.near(query, values.Where.PEER, sight.target, limit),
            )
            found = _woven(found, [_said(one) for one in said])
        return found

    async def _remembered(
        self, way: Route, what: str, call: Callable[[Gateway], Awaitable[tuple[T, ...]]]
    ) -> tuple[T, ...]:
        return await self._reach.call(way, what, call, wait_s=WAIT_S)

    async def _items(
        self,
        waiting: Sequence[WaitingRow],
        remote: Sequence[Item] | BaseException,
        *,
        items: int,
        chars: int,
    ) -> Items:
        if isinstance(remote, BaseException):
            if not isinstance(remote, HonchoAway | HonchoRefused) or not waiting:
                raise remote
            found: Sequence[Item] = ()
        else:
            found = remote
        there = {(item.kind, item.content) for item in found}
        # What has just arrived waits for a moment longer.
        here = [item for item in map(_waiting, waiting) if (item.kind, item.content) not in there]
        candidates = [*here, *found]
        chosen: list[Item] = []
        left = chars
        for item in candidates[:items]:
            content = await self._veil.line(item.content)
            if len(content) > left and chosen:
                break
            content = content[:left]
            left -= len(content)
            chosen.append(Item(item.id, content, item.kind, item.pending, item.peer, session=item.session))
        failure = remote.detail if isinstance(remote, Problem) else None
        return Items(chosen, truncated=len(chosen) < len(candidates), failure=failure)


def _waiting(row: WaitingRow) -> Item:
    kind: Literal["conclusion", "message"] = "conclusion" if row.kind is Kind.CONCLUSION else "message"
    return Item(row.message_id, row.content, kind, True, row.peer, session=row.session)


def _concluded(sight: values.Sight, one: values.Concluded) -> Item:
    return Item(one.id, one.content, "conclusion", False, sight.target)


def _said(one: values.Said) -> Item:
    return Item(one.id, one.content, "message", False, one.peer, session=one.session)


def _woven(first: Sequence[Item], second: Sequence[Item]) -> list[Item]:
    """Both lists in turn, so that the best of each come first."""
    paired = [item for pair in zip(first, second, strict=False) for item in pair]
    shorter = min(len(first), len(second))
    return [*paired, *first[shorter:], *second[shorter:]]

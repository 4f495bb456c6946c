"""The tools as the front door sees them: one object that lists and runs them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

import msgspec

from honchod.capture.pipeline import HidesSecrets
from honchod.clock import Clock
from honchod.delivery.routes import Route
from honchod.errors import BadRequest
from honchod.gateway.pool import GatewayPool
from honchod.identity.host import Hosts
from honchod.identity.place import Places
from honchod.memory import catalogue, rendering, tasks
from honchod.memory.asking import Asking, Piece
from honchod.memory.families import Family
from honchod.memory.keeping import Keeping
from honchod.memory.reach import Reach
from honchod.memory.reading import Reading
from honchod.memory.requests import ToolAnswer, ToolList, ToolRequest, ToolsQuery
from honchod.memory.results import AskResult, ConcludeResult, DreamResult, Result, StatusResult
from honchod.memory.searching import Searching
from honchod.memory.tasks import Task
from honchod.memory.veil import Veil
from honchod.memory.visit import Visit
from honchod.outbox.store import Outbox
from honchod.outbox.values import Counts, LaneKey
from honchod.recall.recaller import Recaller

DREAM = "have memory consolidated"


@dataclass(frozen=True, slots=True)
class _Done:
    """What a task came to: for programs and for the model."""

    result: Result
    text: str


class Toolbox:
    """Lists tools and runs them. `use` replaces hosts, routes and redactor."""

    def __init__(
        self,
        outbox: Outbox,
        pool: GatewayPool,
        recaller: Recaller,
        places: Places,
        hosts: Hosts,
        routes: Mapping[str, Route],
        redactor: HidesSecrets | None,
        *,
        clock: Clock,
    ) -> None:
        self._outbox = outbox
        self._recaller = recaller
        self._places = places
        self._hosts = hosts
        self._routes = dict(routes)
        self._veil = Veil(None if redactor is None else redactor.text)
        self._reach = Reach(pool, recaller.gates, clock)
        self._searching = Searching(outbox, self._reach, self._veil, self._hosts_of)
        self._reading = Reading(self._reach, self._veil)
        self._asking = Asking(self._reach, self._veil, recaller.reasoned)
        self._keeping = Keeping(outbox, self._reach, redactor, recaller.forget, self._hosts_of, clock=clock)

    def use(self, hosts: Hosts, routes: Mapping[str, Route], redactor: HidesSecrets | None) -> None:
        """Work with these from now on."""
        self._hosts = hosts
        self._routes = dict(routes)
        self._veil.use(None if redactor is None else redactor.text)
        self._keeping.use(redactor)

    def on_append(self, call: Callable[[], None]) -> None:
        """Call this after each conclusion that was stored."""
        self._keeping.on_append = call

    def listed(self, query: ToolsQuery) -> ToolList:
        """The schemas of a host's tools. Raises UnknownHost."""
        family = None if query.family is None else Family(query.family)
        return catalogue.listed(self._hosts.named(query.host), family)

    async def run(self, name: str, request: ToolRequest, *, uid: int, operator: bool) -> ToolAnswer:
        """Run a tool. Raises a Problem that says what failed and whether trying again helps."""
        task = catalogue.task_of(name, request.arguments)
        visit = self._visit(request, task, uid=uid, operator=operator)
        if isinstance(task, tasks.Conclude):
            # Whoever leaves meanwhile takes nothing back of what is being stored.
            done = await asyncio.shield(asyncio.ensure_future(self._conclude(visit, task)))
        else:
            done = await self._run(visit, task)
        return await self._answer(visit, done)

    async def stream(
        self, name: str, request: ToolRequest, *, uid: int, operator: bool
    ) -> AsyncGenerator[Piece | ToolAnswer, None]:
        """Run a tool that asks, and give its answer in pieces, then whole. Raises as `run` does.

        BadRequest for a tool that asks nothing. Close it to end the call to Honcho.
        """
        task = catalogue.task_of(name, request.arguments)
        if not isinstance(task, tasks.Ask):
            raise BadRequest("only a question is answered as a stream: ask for application/json")
        visit = self._visit(request, task, uid=uid, operator=operator)
        async with aclosing(self._asking.stream(visit, task)) as parts:
            async for part in parts:
                if isinstance(part, Piece):
                    yield part
                else:
                    yield await self._answer(visit, _Done(part, rendering.answer(part.answer)))

    def _visit(self, request: ToolRequest, task: Task, *, uid: int, operator: bool) -> Visit:
        host = self._hosts.named(request.host)
        named = getattr(task, "scope", None)
        place = self._places.of(host, request.located(host.name, named))
        return Visit(
            place=place,
            route=self._routes.get(host.name),
            person=self._recaller.person(place),
            uid=uid,
            operator=operator,
            scoped=(named or request.scope) is not None,
        )

    async def _run(self, visit: Visit, task: Task) -> _Done:
        match task:
            case tasks.ReadCard():
                card = await self._reading.card(visit, task)
                return _Done(card, rendering.card(card))
            case tasks.SetCard():
                card = await self._reading.set_card(visit, task)
                return _Done(card, rendering.card(card))
            case tasks.Search():
                items = await self._searching.search(visit, task)
                return _Done(items, rendering.items(items))
            case tasks.ListConclusions():
                items = await self._searching.listed(visit, task)
                return _Done(items, rendering.items(items))
            case tasks.Pack():
                pack = await self._reading.pack(visit, task)
                return _Done(pack, rendering.pack(pack))
            case tasks.Ask():
                answer: AskResult = await self._asking.ask(visit, task)
                return _Done(answer, rendering.answer(answer.answer))
            case tasks.Conclude():
                return await self._conclude(visit, task)
            case tasks.Forget():
                forgotten = await self._keeping.forget(visit, task)
                return _Done(forgotten, rendering.forgotten(forgotten))
            case tasks.ShowStatus():
                status = await self._status(visit)
                return _Done(status, rendering.status(status))
            case tasks.Dream():
                return await self._dream(visit, task)

    async def _conclude(self, visit: Visit, task: tasks.Conclude) -> _Done:
        concluded = await self._keeping.conclude(visit, task)
        return _Done(concluded, _told(concluded))

    async def _dream(self, visit: Visit, task: tasks.Dream) -> _Done:
        sight, session = visit.sight(task.peer), visit.place.session
        await self._reach.call(
            visit.way, DREAM, lambda gateway: gateway.conclusions.consolidate(sight, session)
        )
        return _Done(DreamResult(sight.target), "Honcho will think over what it knows, in its own time.")

    async def _status(self, visit: Visit) -> StatusResult:
        host = visit.host
        overview = await self._outbox.overview()
        counts = overview.by_place.get((host.name, host.workspace), Counts())
        return StatusResult(
            host=host.name,
            workspace=host.workspace,
            session=visit.place.session,
            user_peer=visit.person,
            ai_peer=host.peers.ai,
            recall_mode=host.recall.mode.value,
            pending=counts.queued,
            delivered=counts.delivered,
            dead=counts.dead,
            reachable=not self._recaller.gates.is_failing(visit.way.destination),
        )

    async def _answer(self, visit: Visit, done: _Done) -> ToolAnswer:
        place = visit.place
        pending = await self._outbox.pending(LaneKey(place.name.host, place.name.workspace, place.session))
        return ToolAnswer(msgspec.Raw(msgspec.json.encode(done.result)), done.text, pending)

    def _hosts_of(self, destination: str, workspace: str) -> tuple[str, ...]:
        return tuple(
            name
            for name, route in self._routes.items()
            if route.destination == destination and route.host.workspace == workspace
        )


def _told(concluded: ConcludeResult) -> str:
    match concluded.status:
        case "queued":
            return f"Remembered, under the id {concluded.id}."
        case "duplicate":
            return f"That is remembered already, under the id {concluded.id}."
        case "skipped":
            return f"Not remembered: {concluded.reason}."

"""The front door proper: from one HTTP request to one answer, whatever happens in between."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
import structlog
from aiohttp import hdrs, web

from honchod.api import problems, streams
from honchod.api.asked import Asked, Reply
from honchod.api.backend import Backend
from honchod.api.bodies import PeerLeft, check_size
from honchod.api.callers import Access, Caller, Role
from honchod.api.connection import Awaited, Beginning, Connection
from honchod.api.decoding import check_path, decode_body, decode_query
from honchod.api.phases import Phase
from honchod.api.request_ids import request_id
from honchod.api.route import Answer, Begin, Call, EventStream, Nothing, Route
from honchod.api.router import Router
from honchod.api.streamed import Streamed
from honchod.api.visits import Observe, Visit, VisitorsBook
from honchod.api.whole import Whole
from honchod.begun import Begun
from honchod.errors import Draining, NotAllowed, Problem, raised_at
from honchod.ops.views import LimitsView

_log = structlog.get_logger(__name__)

_NOTHING: Final = Nothing()
_RETRY_DRAINING_S: Final = 5.0


class _Admitted(msgspec.Struct, frozen=True):
    """What is known of a request before its body is read: the caller may make it."""

    route: Route
    operator: bool
    query: msgspec.Struct
    path: Mapping[str, str]


class Door:
    """Answers requests: finds the route, checks the caller, decodes, calls the handler, words the errors.

    ``access`` may be replaced at any time, and ``draining`` set: it makes the door refuse intake.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        limits: LimitsView,
        access: Access,
        routes: Iterable[Route],
        observe: Observe | None = None,
    ) -> None:
        """``observe`` is told of every answer."""
        self._backend = backend
        self._limits = limits
        self._router = Router(routes)
        self._book = VisitorsBook(observe)
        self.access = access
        self.draining = False

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to a request that aiohttp reads. Raises nothing but PeerLeft."""
        connection = request.protocol
        assert isinstance(connection, Connection)
        asked = Streamed(request)
        visit = Visit(connection.caller, request_id(asked.given_id))
        try:
            admitted = self._admit(asked, visit)
            body = b"" if asked.method == hdrs.METH_GET else await asked.body(self._limits.body_bytes)
            call = self._call(asked, admitted, visit, body)
            connection.enter(Phase.WORKING)
            connection.attended = admitted.route.attended
        except PeerLeft:
            raise
        except Exception as error:
            reply = self._failed(visit, error)
        else:
            answer = await self._answer(admitted.route, call, visit)
            if isinstance(answer, EventStream):
                response = await streams.send(answer, request, connection, visit.request_id)
                self._book.answered(visit, response.status)
                return response
            reply = answer
        return web.Response(body=reply.body, status=reply.status, headers=reply.headers)

    def serve(self, whole: Whole, connection: Connection) -> Reply | Awaited | Beginning:
        """The answer to a request that came whole, or what comes to it where something is waited for.

        None of them raises anything.
        """
        visit = Visit(connection.caller, request_id(whole.given_id))
        try:
            admitted = self._admit(whole, visit)
            route = admitted.route
            check_size(len(whole.content), self._limits.body_bytes)
            call = self._call(whole, admitted, visit, whole.content)
            answer = None if route.at_once is None else route.at_once(call)
        except Exception as error:
            return self._failed(visit, error)
        if answer is not None:
            return self._reply(visit, answer)
        connection.attended = route.attended
        if route.begin is not None:
            return partial(self._begin, route, route.begin, call, visit)
        return self._in_a_task(route, call, visit)

    def _begin(self, route: Route, begin: Begin, call: Call[Any, Any], visit: Visit) -> Reply | Awaited:
        structlog.contextvars.bind_contextvars(request_id=visit.request_id)
        try:
            begun = begin(call)
        except Exception as error:
            return self._failed(visit, error)
        if begun is None:
            return self._in_a_task(route, call, visit)
        return Awaited(begun.awaited, partial(self._ended, visit, begun))

    def _ended(self, visit: Visit, begun: Begun[Answer], awaited: asyncio.Future[Any]) -> Reply:
        try:
            answer = begun.result(awaited.result())
        except Exception as error:
            return self._failed(visit, error)
        return self._reply(visit, answer)

    def _in_a_task(self, route: Route, call: Call[Any, Any], visit: Visit) -> Awaited:
        return Awaited(asyncio.ensure_future(self._answer(route, call, visit)), _reply_of)

    async def _answer(self, route: Route, call: Call[Any, Any], visit: Visit) -> Reply | EventStream:
        # What is left behind is only this task's, and the next request on the connection replaces it.
        structlog.contextvars.bind_contextvars(request_id=visit.request_id)
        try:
            answer = await route.handler(call)
        except Exception as error:
            return self._failed(visit, error)
        return answer if isinstance(answer, EventStream) else self._reply(visit, answer)

    def _admit(self, asked: Asked, visit: Visit) -> _Admitted:
        match = self._router.find(asked.method, asked.path)
        visit.route = route = match.route
        role = self._role(route, visit.caller)
        query = asked.query
        said = decode_query(query, route.query) if query or route.query is not Nothing else _NOTHING
        if match.parameters:
            check_path(match.parameters)
        return _Admitted(route, role is Role.OPERATOR, said, match.parameters)

    def _role(self, route: Route, caller: Caller) -> Role:
        role = self.access.role_of(caller)
        if role < route.role:
            raise NotAllowed(f"uid {caller.uid} is not among the {route.role.name.lower()}s of [access]")
        if route.intake and self.draining:
            raise Draining("the daemon is stopping", retry_after_s=_RETRY_DRAINING_S)
        return role

    def _call(self, asked: Asked, admitted: _Admitted, visit: Visit, body: bytes) -> Call[Any, Any]:
        return Call(
            backend=self._backend,
            limits=self._limits,
            uid=visit.caller.uid,
            operator=admitted.operator,
            body=_NOTHING if asked.method == hdrs.METH_GET else _decoded(body, admitted.route),
            query=admitted.query,
            path=admitted.path,
            wants_events=asked.wants_events,
        )

    def _failed(self, visit: Visit, error: Exception) -> Reply:
        """What a request is answered with that ended in an error."""
        if isinstance(error, Problem):
            self._book.refused(visit, error)
            return problems.reply(error, visit.request_id)
        _log.error(
            "request.failed",
            error=type(error).__name__,
            where=raised_at(error),
            route=visit.route_name,
            request_id=visit.request_id,
            uid=visit.caller.uid,
            pid=visit.caller.pid,
        )
        self._book.failed(visit)
        return problems.reply(problems.internal(), visit.request_id)

    def _reply(self, visit: Visit, answer: Answer) -> Reply:
        self._book.answered(visit, answer.status)
        return Reply(answer.status, answer.media_type, visit.request_id, answer.body)


def _reply_of(task: asyncio.Future[Reply | EventStream]) -> Reply:
    reply = task.result()
    # Who wants a stream does not come whole.
    assert isinstance(reply, Reply)
    return reply


def _decoded(body: bytes, route: Route) -> msgspec.Struct:
    if not body and route.absent_body is not None:
        return route.absent_body
    return decode_body(body, route.decoder)

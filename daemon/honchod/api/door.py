"""The front door proper: from one HTTP request to one answer, whatever happens in between."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
import structlog
from aiohttp import hdrs, web

from honchod.api import problems, streams
from honchod.api.asked import Asked, Reply
from honchod.api.backend import Backend
from honchod.api.bodies import PeerLeft
from honchod.api.callers import Access, Caller, Role
from honchod.api.connection import Connection
from honchod.api.decoding import check_path, decode_body, decode_query
from honchod.api.phases import Phase
from honchod.api.request_ids import request_id
from honchod.api.route import Answer, Call, EventStream, Nothing, Route
from honchod.api.router import Match, Router
from honchod.api.streamed import Streamed
from honchod.api.visits import Observe, Visit
from honchod.api.whole import Whole
from honchod.errors import Draining, NotAllowed, Problem, raised_at
from honchod.ops.views import LimitsView

_log = structlog.get_logger(__name__)

_NOTHING: Final = Nothing()
_RETRY_DRAINING_S: Final = 5.0


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
        self._observe = observe
        self.access = access
        self.draining = False

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to a request that aiohttp reads. Raises nothing but PeerLeft."""
        connection = request.protocol
        assert isinstance(connection, Connection)
        asked = Streamed(request)
        name = request_id(asked.given_id)
        visit = Visit(connection.caller, self._observe)
        answer = await self._reply(asked, connection, name, visit)
        if isinstance(answer, EventStream):
            response = await streams.send(answer, request, connection, name)
            visit.answered(response.status)
            return response
        return web.Response(body=answer.body, status=answer.status, headers=answer.headers)

    async def reply(self, whole: Whole, connection: Connection) -> Reply:
        """The answer to a request that came whole. Raises nothing."""
        visit = Visit(connection.caller, self._observe)
        answer = await self._reply(whole, connection, request_id(whole.given_id), visit)
        assert isinstance(answer, Reply)
        return answer

    async def _reply(
        self, asked: Asked, connection: Connection, name: str, visit: Visit
    ) -> Reply | EventStream:
        """What a request, which has this name, is answered with. Raises PeerLeft, when its peer was in the
        middle of its body.
        """
        # What is left behind is only this task's, and the next request on the connection replaces it.
        structlog.contextvars.bind_contextvars(request_id=name)
        try:
            match = self._router.find(asked.method, asked.path)
            visit.route = match.route
            answer = await self._answer(match, asked, connection)
        except Problem as problem:
            visit.refused(problem)
            return problems.reply(problem, name)
        except PeerLeft:
            raise
        except Exception as error:
            caller = connection.caller
            _log.error(
                "request.failed",
                error=type(error).__name__,
                where=raised_at(error),
                route=visit.route.name if visit.route else None,
                request_id=name,
                uid=caller.uid,
                pid=caller.pid,
            )
            visit.failed()
            return problems.reply(problems.internal(), name)
        if isinstance(answer, EventStream):
            return answer
        visit.answered(answer.status)
        headers = {"Content-Type": answer.media_type, "Server": "honchod", "X-Request-Id": name}
        return Reply(answer.status, headers, answer.body)

    async def _answer(self, match: Match, asked: Asked, connection: Connection) -> Answer | EventStream:
        route = match.route
        role = self._admit(route, connection.caller)
        query = _query(asked, route)
        if match.parameters:
            check_path(match.parameters)
        body = await self._body(asked, route)
        connection.enter(Phase.WORKING)
        connection.attended = route.attended
        return await route.handler(
            Call(
                backend=self._backend,
                limits=self._limits,
                uid=connection.caller.uid,
                operator=role is Role.OPERATOR,
                body=body,
                query=query,
                path=match.parameters,
                wants_events=asked.wants_events,
            )
        )

    def _admit(self, route: Route, caller: Caller) -> Role:
        role = self.access.role_of(caller)
        if role < route.role:
            raise NotAllowed(f"uid {caller.uid} is not among the {route.role.name.lower()}s of [access]")
        if route.intake and self.draining:
            raise Draining("the daemon is stopping", retry_after_s=_RETRY_DRAINING_S)
        return role

    async def _body(self, asked: Asked, route: Route) -> msgspec.Struct:
        if asked.method == hdrs.METH_GET:
            return _NOTHING
        body = await asked.body(self._limits.body_bytes)
        if not body and route.absent_body is not None:
            return route.absent_body
        return decode_body(body, route.decoder)


def _query(asked: Asked, route: Route) -> msgspec.Struct:
    query = asked.query
    return decode_query(query, route.query) if query or route.query is not Nothing else _NOTHING

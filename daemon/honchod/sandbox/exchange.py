"""One HTTP exchange: log it, let a fault have its way, make the call, answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from aiohttp import web

from .calls import Answer, Upload
from .control import CONTROL_PREFIX, Control
from .core import Core, Incoming
from .faults import Commit, Reply, Rule
from .records import RequestRecord

_GONE_POLL_S: Final = 0.02

TakeDown = Callable[[float], Awaitable[None]]
"""Closes the listener for so many seconds."""


class Exchange:
    """The aiohttp handler of a sandbox."""

    def __init__(self, core: Core, *, latency_s: float, take_down: TakeDown) -> None:
        self._core = core
        self._control = Control(core, take_down)
        self._latency_s = latency_s
        self._take_down = take_down
        self._late: set[asyncio.Task[None]] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request, or leave it unanswered if a fault says so."""
        received_s = time.monotonic()
        path = request.rel_url.raw_path
        incoming = await _read(request)
        if path.startswith(CONTROL_PREFIX):
            return _response(await self._control.perform(request.method, path, request.query, incoming.body))
        record = self._core.log.arrive(
            received_s=received_s,
            method=request.method,
            path=path,
            query=incoming.query,
            headers={name.lower(): value for name, value in request.headers.items()},
            body=incoming.body,
        )
        rule = self._core.faults.pick(incoming.target(), received_s)
        try:
            if self._latency_s:
                await asyncio.sleep(self._latency_s)
            if rule is not None:
                return await self._answer_with_fault(request, incoming, record, rule)
            return await self._answer(request, self._perform(incoming, record), record)
        finally:
            self._core.log.leave(record, time.monotonic())

    def cancel_late_commits(self) -> None:
        """Give up what is to be stored later: the process ends."""
        for task in self._late:
            task.cancel()

    def _perform(self, incoming: Incoming, record: RequestRecord, *, llm_down: bool = False) -> Answer:
        answer = self._core.perform(incoming, llm_down=llm_down)
        record.committed = answer.status < HTTPStatus.BAD_REQUEST
        return answer

    async def _answer_with_fault(
        self, request: web.Request, incoming: Incoming, record: RequestRecord, rule: Rule
    ) -> web.StreamResponse:
        record.fault = rule.name()
        if rule.delay_s:
            await asyncio.sleep(rule.delay_s)
        if rule.down_s:
            await self._take_down(rule.down_s)
        answer = Answer()
        if rule.commit is Commit.NOW:
            answer = self._perform(incoming, record, llm_down=rule.llm_down)
        elif rule.commit is Commit.LATE:
            self._commit_late(request, incoming, record, rule)
        if rule.delay_after_s:
            await asyncio.sleep(rule.delay_after_s)
        match rule.reply:
            case Reply.REAL:
                return await self._answer(request, answer, record)
            case Reply.STATUS:
                body = rule.body or f'{{"detail":"{_phrase(rule.status)}"}}'
                made_up = Answer(rule.status, body.encode(), rule.content_type)
                return await self._answer(request, made_up, record, rule.headers)
            case Reply.PARTIAL:
                return await _half(request, answer)
            case Reply.HANG:
                await _until_gone(request)
            case Reply.CUT:
                pass
        _cut(request)
        return web.Response()

    async def _answer(
        self,
        request: web.Request,
        answer: Answer,
        record: RequestRecord,
        headers: dict[str, str] | None = None,
    ) -> web.StreamResponse:
        record.status = answer.status
        response = _response(answer, headers)
        if answer.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            # The real server ends the connection after an unhandled error, without announcing it.
            await response.prepare(request)
            await response.write_eof()
            if request.transport is not None:
                request.transport.close()
        return response

    def _commit_late(
        self, request: web.Request, incoming: Incoming, record: RequestRecord, rule: Rule
    ) -> None:
        async def commit() -> None:
            await _until_gone(request)
            await asyncio.sleep(rule.late_s)
            self._perform(incoming, record, llm_down=rule.llm_down)

        task = asyncio.create_task(commit())
        self._late.add(task)
        task.add_done_callback(self._late.discard)


async def _read(request: web.Request) -> Incoming:
    """The request with its body; a form is taken apart into its file and its other fields."""
    upload = None
    body = b""
    if request.content_type == "multipart/form-data":
        form = await request.post()
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        files = [value for value in form.values() if isinstance(value, web.FileField)]
        upload = Upload(files[0].file.read() if files else b"", fields)
    else:
        body = await request.read()
    return Incoming(
        method=request.method,
        path=request.rel_url.raw_path,
        query=request.rel_url.raw_query_string,
        body=body,
        authorization=request.headers.get("Authorization"),
        upload=upload,
    )


def _response(answer: Answer, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        status=answer.status,
        body=answer.body or None,
        headers={"Content-Type": answer.content_type, **(headers or {})},
    )


async def _half(request: web.Request, answer: Answer) -> web.StreamResponse:
    """The headers of the answer and half of its body, then the end of the connection."""
    response = web.StreamResponse(status=answer.status, headers={"Content-Type": answer.content_type})
    response.content_length = len(answer.body)
    await response.prepare(request)
    await response.write(answer.body[: len(answer.body) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


async def _until_gone(request: web.Request) -> None:
    """Wait until the client's end of the connection is closed."""
    while request.transport is not None and not request.transport.is_closing():  # noqa: ASYNC110  no event tells
        await asyncio.sleep(_GONE_POLL_S)


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"

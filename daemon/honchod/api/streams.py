"""Answers that come bit by bit, as server-sent events."""

from __future__ import annotations

from contextlib import aclosing
from typing import Final

import structlog
from aiohttp import web

from honchod.api import problems
from honchod.api.asked import SERVER
from honchod.api.connection import Connection
from honchod.api.phases import Phase
from honchod.api.route import EventStream
from honchod.errors import Problem

_log = structlog.get_logger(__name__)

MEDIA_TYPE: Final = "text/event-stream"


async def send(
    stream: EventStream, request: web.BaseRequest, connection: Connection, name: str
) -> web.StreamResponse:
    """Send a stream to its end. What fails on the way becomes its last event, ``error``.

    A peer may take as long to read a bit as it may to read an answer; between the bits the daemon is at work.
    """
    response = web.StreamResponse(
        headers={
            "Content-Type": f"{MEDIA_TYPE}; charset=utf-8",
            "Cache-Control": "no-cache",
            "Server": SERVER,
            "X-Request-Id": name,
        }
    )
    await response.prepare(request)
    async with aclosing(stream.events) as events:
        try:
            async for event in events:
                await _write(response, connection, event)
        except Problem as problem:
            await _write(response, connection, _error(problem))
        except ConnectionError:
            _log.debug("stream.left", request_id=name)
        except Exception as error:
            _log.error("stream.failed", error=type(error).__name__, request_id=name)
            await _write(response, connection, _error(problems.internal()))
    return response


async def _write(response: web.StreamResponse, connection: Connection, event: bytes) -> None:
    connection.enter(Phase.SENDING)
    await response.write(event)
    connection.enter(Phase.WORKING)


def _error(problem: Problem) -> bytes:
    return b"event: error\ndata: " + problems.encode(problem) + b"\n\n"

"""The memory tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import msgspec

from honchod.api.route import Answer, Call, EventStream, Nothing
from honchod.memory.asking import Piece
from honchod.memory.requests import ToolAnswer, ToolRequest, ToolsQuery

_encode: Final = msgspec.json.Encoder().encode


class Delta(msgspec.Struct, frozen=True):
    """A piece of an answer."""

    content: str


class StreamedPiece(msgspec.Struct, frozen=True):
    """An event of a stream, in the shape of Honcho's own."""

    delta: Delta
    done: bool = False


class StreamedEnd(msgspec.Struct, frozen=True):
    """The last event: the answer as it would have come without a stream."""

    result: msgspec.Raw
    text: str
    pending: int
    done: bool = True


async def list_tools(call: Call[Nothing, ToolsQuery]) -> Answer:
    """List the tools of a host as function schemas; none where its recall mode hides them."""
    return Answer.of(call.backend.toolbox.listed(call.query))


async def call_tool(call: Call[ToolRequest, Nothing]) -> Answer | EventStream:
    """Run a memory tool. A question is answered as a stream of events where the caller accepts one."""
    name, toolbox = call.path["name"], call.backend.toolbox
    if not call.wants_events:
        return Answer.of(await toolbox.run(name, call.body, uid=call.uid, operator=call.operator))
    parts = toolbox.stream(name, call.body, uid=call.uid, operator=call.operator)
    # What fails before the first word is a problem like any other.
    first = await anext(parts)
    return EventStream(_events(first, parts))


async def _events(
    first: Piece | ToolAnswer, parts: AsyncGenerator[Piece | ToolAnswer, None]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(parts) as rest:
        yield _event(first)
        async for part in rest:
            yield _event(part)


def _event(part: Piece | ToolAnswer) -> bytes:
    event: StreamedPiece | StreamedEnd
    if isinstance(part, Piece):
        event = StreamedPiece(Delta(part.text))
    else:
        event = StreamedEnd(part.result, part.text, part.pending)
    return b"data: " + _encode(event) + b"\n\n"

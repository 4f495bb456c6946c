"""An answer of the dialectic, piece by piece as Honcho gives it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, cast

from honcho.http import routes
from honcho.utils.sse import SSEStreamParser, parse_sse_astream

from honchod.errors import CallFailed, CallReason
from honchod.gateway.failures import translate
from honchod.gateway.sdk import watch
from honchod.gateway.values import Sight

if TYPE_CHECKING:
    from honcho import Honcho

    from honchod.identity.choices import ReasoningLevel

OK: Final = 200


class Dialogue:
    """The dialectic behind a gateway."""

    def __init__(self, honcho: Honcho) -> None:
        self._honcho = honcho

    async def stream(
        self, question: str, sight: Sight, level: ReasoningLevel, *, timeout_s: float
    ) -> AsyncGenerator[str, None]:
        """The pieces of the answer, at least one. ``timeout_s`` bounds the whole. Close it to end the call.

        Raises `CallFailed`; a stream that says nothing is a failure (EMPTY): so Honcho answers when its model
        is down.
        """
        seen = watch()
        deadline_s = time.monotonic() + timeout_s
        parser = SSEStreamParser()
        spoke = False
        async with (
            aclosing(self._bytes(question, sight, level, timeout_s)) as chunks,
            aclosing(parse_sse_astream(chunks, parser=parser)) as pieces,
        ):
            while True:
                try:
                    async with asyncio.timeout(max(0.0, deadline_s - time.monotonic())):
                        piece = await anext(pieces)
                except StopAsyncIteration:
                    break
                except Exception as error:
                    raise translate(error, status=seen.status, retry_after=seen.retry_after) from None
                spoke = spoke or bool(piece.strip())
                yield piece
        if not spoke:
            raise CallFailed(CallReason.EMPTY, status=OK)
        if not parser.done:
            raise CallFailed(CallReason.CUT)

    def _bytes(
        self, question: str, sight: Sight, level: ReasoningLevel, timeout_s: float
    ) -> AsyncGenerator[bytes, None]:
        """The SDK's own stream knows no timeout but the client's, which is shorter than a model's thought."""
        body: dict[str, Any] = {
            "query": question,
            "stream": True,
            "target": sight.target,
            "reasoning_level": level.value,
        }
        if sight.scope is not None:
            body["scope"] = sight.scope
        path = routes.peer_chat(self._honcho.workspace_id, sight.observer)
        chunks = self._honcho._async_http_client.stream("POST", path, body=body, timeout=timeout_s)
        return cast("AsyncGenerator[bytes, None]", chunks)

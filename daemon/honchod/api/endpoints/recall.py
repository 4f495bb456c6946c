"""Recall: memory for the prompt, and what is fetched ahead of it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from honchod.api.route import Answer, Call, Nothing
from honchod.identity.requests import Id
from honchod.recall.encoding import encoded
from honchod.recall.receipts import KEPT
from honchod.recall.requests import RecallRequest, SessionQuery


class ReceiptsQuery(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which receipts to list; ``session`` is a Honcho session id."""

    session: Id | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=KEPT)] = 100


async def recall(call: Call[RecallRequest, Nothing]) -> Answer:
    """Get memory for the prompt, from what is held; wait for a better answer only as long as told."""
    return Answer(encoded(await call.backend.recaller.recall(call.body)))


def recall_again(call: Call[RecallRequest, Nothing]) -> Answer | None:
    """The answer of a moment ago, while nothing has changed since."""
    answer = call.backend.recaller.again(call.body)
    return None if answer is None else Answer(encoded(answer))


async def prefetch(call: Call[SessionQuery, Nothing]) -> Answer:
    """Fetch ahead for the next recall."""
    return Answer.of(await call.backend.recaller.prefetch(call.body), 202)


async def start_session(call: Call[SessionQuery, Nothing]) -> Answer:
    """Start a session: it is made remotely and its memory is warmed up, both behind the answer."""
    return Answer.of(await call.backend.recaller.start(call.body))


async def clear_cache(call: Call[Nothing, Nothing]) -> Answer:
    """Forget every cached answer."""
    return Answer.of(await call.backend.recaller.clear())


async def list_receipts(call: Call[Nothing, ReceiptsQuery]) -> Answer:
    """List the last recalls, the latest first, without content."""
    asked = call.query
    return Answer.of(call.backend.recaller.receipts(limit=asked.limit, session=asked.session))

"""The dead letters."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from honchod.api.route import Answer, Call, Nothing
from honchod.identity.requests import Id
from honchod.ops.views import LetterIds, LetterSelection


class LettersQuery(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which dead letters to list; ``cursor`` is the one that the page before gave."""

    session: Id | None = None
    code: Id | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    cursor: Annotated[str, msgspec.Meta(min_length=1, max_length=512)] | None = None


class LetterQuery(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Whether to show the content too."""

    content: Literal["0", "1"] = "0"


async def list_letters(call: Call[Nothing, LettersQuery]) -> Answer:
    """List dead letters, oldest first, without content."""
    asked = call.query
    return Answer.of(
        await call.backend.letters(
            session=asked.session, code=asked.code, limit=asked.limit, cursor=asked.cursor
        )
    )


async def show_letter(call: Call[Nothing, LetterQuery]) -> Answer:
    """Show one dead letter with its attempts; its content only when asked for."""
    return Answer.of(await call.backend.letter(call.path["id"], content=call.query.content == "1"))


async def retry_letters(call: Call[LetterSelection, Nothing]) -> Answer:
    """Put dead letters back into the queue."""
    return Answer.of(await call.backend.retry_letters(call.body))


async def discard_letters(call: Call[LetterIds, Nothing]) -> Answer:
    """Discard dead letters for good."""
    return Answer.of(await call.backend.discard_letters(call.body.ids))

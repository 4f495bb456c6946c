"""Dead letters as an operator handles them: listed, shown, sent again, given up."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from honchod.clock import rfc3339
from honchod.errors import BadRequest, NotFound
from honchod.ops.views import Attempt, Letter, LetterDetail, LetterPage, LetterSelection, Retried
from honchod.outbox.letters import RETRY_MAX, Choice, LetterRow
from honchod.outbox.store import Outbox

_EVERYTHING = 1 << 62


async def page(
    outbox: Outbox, *, session: str | None, code: str | None, limit: int, cursor: str | None
) -> LetterPage:
    """A page of letters, oldest first. Raises `BadRequest` for a cursor that no page gave."""
    after = 0 if cursor is None else _number(cursor)
    if after is None:
        raise BadRequest("cursor: not one that a page of letters gave")
    rows, total = await outbox.letters(Choice(session=session, code=code), after=after, limit=limit + 1)
    more = len(rows) > limit
    rows = rows[:limit]
    return LetterPage([_letter(row) for row in rows], str(rows[-1].id) if more else None, total)


async def show(outbox: Outbox, letter_id: str, *, content: bool) -> LetterDetail:
    """One letter with its attempts. Raises `NotFound`."""
    number = _number(letter_id)
    if number is None:
        raise NotFound("there is no such dead letter")
    row, history = await outbox.letter(number)
    return LetterDetail(
        **msgspec.structs.asdict(_letter(row)),
        history=[Attempt(rfc3339(made.at_ms), made.outcome, made.status, made.ms) for made in history],
        content=row.content if content else None,
        metadata=_metadata(row) if content else None,
    )


async def retry(outbox: Outbox, selection: LetterSelection) -> tuple[Retried, frozenset[str]]:
    """Put letters back into the queue; also returns whose hosts they are.

    At most `RETRY_MAX` a call unless all are asked for. Raises `BadRequest` when nothing is chosen.
    """
    if selection.ids is None and selection.session is None and selection.code is None and not selection.all:
        raise BadRequest("ids, session or code: expected one of them, or all")
    ids = None if selection.ids is None else tuple(_numbers(selection.ids))
    choice = Choice(ids=ids, session=selection.session, code=selection.code)
    limit = _EVERYTHING if selection.limit is None else max(0, selection.limit)
    if not selection.all:
        limit = min(limit, RETRY_MAX)
    retried, hosts = await outbox.retry_letters(choice, limit=limit)
    _, remaining = await outbox.letters(choice, after=0, limit=1)
    return Retried(retried, remaining), hosts


async def discard(outbox: Outbox, ids: list[str]) -> int:
    """Give letters up. Returns how many there were of these."""
    return await outbox.discard_letters(list(_numbers(ids)))


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _numbers(texts: Iterable[str]) -> Iterable[int]:
    return (number for number in map(_number, texts) if number is not None)


def _letter(row: LetterRow) -> Letter:
    return Letter(
        id=str(row.id),
        session=row.session,
        host=row.host,
        workspace=row.workspace,
        kind=row.kind,
        peer=row.peer,
        code=row.code,
        attempts=row.attempts,
        created_at=rfc3339(row.created_at_ms),
        died_at=rfc3339(row.died_at_ms),
        size=row.size,
        message_id=row.message_id,
        part=row.part,
    )


def _metadata(row: LetterRow) -> dict[str, object] | None:
    if row.metadata is None:
        return None
    try:
        return msgspec.json.decode(row.metadata, type=dict[str, object])
    except msgspec.MsgspecError:
        return None

"""Writing."""

from __future__ import annotations

from honchod.api.route import Answer, Call, Nothing
from honchod.begun import Begun
from honchod.capture.requests import WriteRequest, WriteResult
from honchod.errors import TooLarge, Unprocessable


async def write_messages(call: Call[WriteRequest, Nothing]) -> Answer:
    """Take messages in, all or nothing; answered once they are on disk."""
    _check(call)
    return _accepted(await call.backend.write(call.body, uid=call.uid, operator=call.operator))


def begin_to_write(call: Call[WriteRequest, Nothing]) -> Begun[Answer] | None:
    """The same, where nothing but the disk is waited for."""
    _check(call)
    begun = call.backend.begin_write(call.body, uid=call.uid, operator=call.operator)
    return None if begun is None else begun.then(_accepted)


def _check(call: Call[WriteRequest, Nothing]) -> None:
    count = len(call.body.messages)
    if count == 0:
        raise Unprocessable("messages: there is none")
    if count > call.limits.messages_per_request:
        raise TooLarge(
            f"messages: {count} are over the limit of {call.limits.messages_per_request} a request"
        )


def _accepted(written: WriteResult) -> Answer:
    return Answer.of(written, 202)

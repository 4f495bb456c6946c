"""Writing."""

from __future__ import annotations

from honchod.api.route import Answer, Call, Nothing
from honchod.capture.requests import WriteRequest
from honchod.errors import TooLarge, Unprocessable


async def write_messages(call: Call[WriteRequest, Nothing]) -> Answer:
    """Take messages in, all or nothing; answered once they are on disk."""
    count = len(call.body.messages)
    if count == 0:
        raise Unprocessable("messages: there is none")
    if count > call.limits.messages_per_request:
        raise TooLarge(
            f"messages: {count} are over the limit of {call.limits.messages_per_request} a request"
        )
    return Answer.of(await call.backend.write(call.body, uid=call.uid, operator=call.operator), 202)

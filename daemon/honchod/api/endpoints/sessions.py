"""An agent's sessions, and the block of the system prompt that tells it about them."""

from __future__ import annotations

import msgspec

from honchod.api.route import Answer, Call, Nothing
from honchod.identity.requests import Id, SessionRequest


class PromptQuery(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Whose block, and for which session of theirs, by the caller's own key."""

    host: Id = "default"
    session: Id | None = None


async def resolve_session(call: Call[SessionRequest, Nothing]) -> Answer:
    """Tell what a message of this session would become: session, workspace, peers, modes, scope."""
    return Answer.of(call.backend.sessions.resolve(call.body))


async def end_session(call: Call[SessionRequest, Nothing]) -> Answer:
    """End a session: what waits in it is due now."""
    return Answer.of(await call.backend.sessions.end(call.body))


async def reset_session(call: Call[SessionRequest, Nothing]) -> Answer:
    """Start a session anew, under another id; what was queued stays with the old one."""
    return Answer.of(await call.backend.sessions.reset(call.body))


async def show_prompt(call: Call[Nothing, PromptQuery]) -> Answer:
    """Show the static block of the system prompt; it stays the same until the settings change."""
    return Answer.of(call.backend.sessions.prompt(call.query.host, call.query.session))

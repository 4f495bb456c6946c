"""A session's context and summaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from .calls import Answer, Call, Route
from .errors import Refused
from .fields import read_query
from .limits import CONTEXT_TOKENS, SCOPE_PREFIX, approximate_tokens
from .model import StoredMessage, Summary
from .recall import as_markdown, card_tokens, newest_messages, pick_summary, select
from .routes_messages import check_readable
from .sight import Search, Sight, check_allowlist, read_search
from .tenancy import find_workspace, require_peer, require_scope

_SESSION: Final = "/v3/workspaces/{workspace}/sessions/{session}"


class SessionContext(Struct, frozen=True):
    """The answer of a context call."""

    id: str
    messages: list[StoredMessage]
    summary: Summary | None
    peer_representation: str | None
    peer_card: list[str] | None


class SessionSummaries(Struct, frozen=True):
    """The answer of a summaries call."""

    id: str
    short_summary: Summary | None
    long_summary: Summary | None


@dataclass(frozen=True, slots=True)
class Asked:
    """The query of a context call."""

    tokens: int
    summary: bool
    sight: Sight | None
    search: Search


def read_context(call: Call) -> Answer:
    """``GET …/context``: an unknown session is empty; a peer that looks at somebody must exist."""
    asked = _read_query(call)
    workspace = find_workspace(call)
    representation: str | None = None
    card: list[str] | None = None
    budget_tokens = asked.tokens
    if asked.sight is not None:
        conclusions = select(workspace, asked.search.wanted(asked.sight, llm_down=call.llm_down))
        representation = as_markdown(conclusions)
        if workspace is not None and asked.sight.sessions is None:
            card = workspace.cards.get((asked.sight.observer, asked.sight.observed))
        budget_tokens -= approximate_tokens(representation) + card_tokens(card)
    summary: Summary | None = None
    messages: list[StoredMessage] = []
    session = workspace.sessions.get(call.path["session"]) if workspace else None
    if session is not None:
        summary = pick_summary(session, budget_tokens) if asked.summary else None
        left_tokens = budget_tokens - (summary.token_count if summary else 0)
        messages = newest_messages(session, summary, left_tokens)
        check_readable(session, messages)
    return Answer.of(SessionContext(call.path["session"], messages, summary, representation, card))


def read_summaries(call: Call) -> Answer:
    """``GET …/summaries``: both kinds, each if there is one."""
    session = call.store.session(call.path["workspace"], call.path["session"])
    short, long = (session.short_summary, session.long_summary) if session else (None, None)
    return Answer.of(SessionSummaries(call.path["session"], short, long))


def _read_query(call: Call) -> Asked:
    query = read_query(call.query)
    tokens = query.integer("tokens", default=CONTEXT_TOKENS, le=CONTEXT_TOKENS)
    summary = query.boolean("summary", default=True)
    limit_to_session = query.boolean("limit_to_session", default=False)
    search = read_search(query)
    query.check()
    return Asked(tokens, summary, _sight(call, limit_to_session=limit_to_session), search)


def _sight(call: Call, *, limit_to_session: bool) -> Sight | None:
    target, perspective = call.query.get("peer_target"), call.query.get("peer_perspective")
    scope, sessions = call.query.get("scope"), call.repeated.get("sessions")
    if perspective and not target:
        raise Refused(422, "peer_target must be provided if peer_perspective is provided")
    if scope is not None and perspective:
        raise Refused(422, "`scope` and `peer_perspective` are mutually exclusive")
    if scope is not None and not target:
        raise Refused(422, "peer_target must be provided if scope is provided")
    if sessions is not None and scope is not None:
        raise Refused(422, "`sessions` and `scope` are mutually exclusive")
    if sessions is not None and limit_to_session:
        raise Refused(422, "`sessions` and `limit_to_session` are mutually exclusive")
    if sessions is not None and not target:
        raise Refused(422, "peer_target must be provided if sessions is provided")
    if not target:
        return None
    allowed = [call.path["session"]] if limit_to_session else None
    if sessions is not None:
        allowed = check_allowlist(list(sessions), "sessions", must_include=call.path["session"])
    if scope is not None:
        require_scope(call.path["workspace"], find_workspace(call), scope)
        return Sight(SCOPE_PREFIX + scope, target, allowed)
    observer = perspective or target
    require_peer(call, observer)
    return Sight(observer, target, allowed)


ROUTES: Final = (
    Route("GET", f"{_SESSION}/context", read_context),
    Route("GET", f"{_SESSION}/summaries", read_summaries),
)

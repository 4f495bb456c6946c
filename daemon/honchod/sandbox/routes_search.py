"""Search in messages: of a session, of a peer, of a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from .calls import Answer, Call, Route
from .errors import Broken, Refused
from .fields import Fields, read_body
from .filters import MESSAGE_COLUMNS, compile_filter
from .limits import PAGE_ROWS
from .model import Json, StoredMessage
from .ranking import nearest
from .routes_messages import check_readable
from .store import SessionState
from .tenancy import find_workspace, require_scope

_WORKSPACE: Final = "/v3/workspaces/{workspace}"


@dataclass(frozen=True, slots=True)
class Sought:
    """The body of a search."""

    query: str
    filters: Json
    limit: int
    scope: str | None


def search_session(call: Call) -> Answer:
    """``POST …/sessions/{session}/search``."""
    sought = _read(read_body(call.body))
    return _search(call, sought, {"session_id": call.path["session"]})


def search_peer(call: Call) -> Answer:
    """``POST …/peers/{peer}/search``: what the peer said."""
    sought = _read(read_body(call.body))
    return _search(call, sought, {"peer_id": call.path["peer"]})


def search_workspace(call: Call) -> Answer:
    """``POST …/search``: everywhere, or in the sessions of one scope."""
    sought = _read(read_body(call.body))
    if sought.scope is None:
        return _search(call, sought, {})
    if "session_id" in sought.filters:
        raise Refused(422, "`scope` and a 'session_id' filter are mutually exclusive")
    scope = require_scope(call.path["workspace"], find_workspace(call), sought.scope)
    return _search(call, sought, {"session_id": {"in": list(scope.sessions)}})


def _read(body: Fields) -> Sought:
    sought = Sought(
        query=body.text("query").replace("\0", ""),
        filters=body.object_or_none("filters") or {},
        limit=body.integer("limit", default=10, ge=1, le=PAGE_ROWS),
        scope=body.text_or_none("scope"),
    )
    body.check()
    return sought


def _search(call: Call, sought: Sought, restriction: Json) -> Answer:
    wanted = compile_filter({**sought.filters, **restriction}, MESSAGE_COLUMNS, "Message")
    if call.llm_down:
        raise Broken
    workspace = find_workspace(call)
    sessions = list(workspace.sessions.values()) if workspace else []
    # What is blank has no embedding and is never found.
    rows = (message for message in _messages(sessions) if message.content.strip() and wanted(message))
    found = nearest(rows, sought.query, lambda message: message.content, limit=sought.limit)
    for session in sessions:
        check_readable(session, found)
    return Answer.of(found)


def _messages(sessions: Iterable[SessionState]) -> Iterator[StoredMessage]:
    for session in sessions:
        yield from session.messages


ROUTES: Final = (
    Route("POST", f"{_WORKSPACE}/sessions/{{session}}/search", search_session),
    Route("POST", f"{_WORKSPACE}/peers/{{peer}}/search", search_peer),
    Route("POST", f"{_WORKSPACE}/search", search_workspace),
)

"""Scopes, their sessions and the state of their backfills."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from .calls import NO_CONTENT, Answer, Call, Route, cut_page, read_paging
from .errors import Refused
from .fields import read_body, read_query
from .limits import SCOPE_PREFIX, SESSIONS_PER_SCOPE_REQUEST
from .store import Backfill
from .tenancy import (
    enter_scope,
    find_session,
    find_workspace,
    open_scope,
    open_workspace,
    require_scope,
    require_session,
)

_SCOPES: Final = "/v3/workspaces/{workspace}/scopes"
_SCOPE: Final = f"{_SCOPES}/{{scope}}"


class BackfillOut(Struct, frozen=True):
    """One backfill as the status shows it."""

    state: str
    updated_at: str
    docs_copied: int | UnsetType = UNSET


class ScopeStatus(Struct, frozen=True):
    """The answer of a status call."""

    backfill_status: dict[str, BackfillOut]


def create_scope(call: Call) -> Answer:
    """``POST …/scopes``: gets or creates; 201 when it was created."""
    body = read_body(call.body)
    scope_id = body.scope_id()
    metadata = body.metadata_or_none()
    body.check()
    scope, created = open_scope(call, open_workspace(call, call.path["workspace"]), scope_id)
    if metadata is not None and metadata != scope.row.metadata:
        scope.row = replace(scope.row, metadata=metadata)
        call.store.changed()
    return Answer.of(scope.row, 201 if created else 200)


def list_scopes(call: Call) -> Answer:
    """``POST …/scopes/list``."""
    query = read_query(call.query)
    paging = read_paging(query)
    query.check()
    workspace = find_workspace(call)
    return Answer.of(cut_page([s.row for s in workspace.scopes.values()] if workspace else [], paging))


def read_scope(call: Call) -> Answer:
    """``GET …/scopes/{scope}``."""
    return Answer.of(require_scope(call.path["workspace"], find_workspace(call), call.path["scope"]).row)


def add_sessions(call: Call) -> Answer:
    """``POST …/scopes/{scope}/sessions``: they must exist; all of them or none."""
    body = read_body(call.body)
    session_ids = body.texts("session_ids", min_items=1, max_items=SESSIONS_PER_SCOPE_REQUEST)
    body.check()
    workspace_id = call.path["workspace"]
    scope = require_scope(workspace_id, find_workspace(call), call.path["scope"])
    workspace = open_workspace(call, workspace_id)
    missing = sorted({one for one in session_ids if find_session(workspace, one) is None})
    if missing:
        raise Refused(404, f"Session(s) {missing} not found in workspace {workspace_id}")
    for session_id in session_ids:
        enter_scope(call, workspace, scope, workspace.sessions[session_id])
    return NO_CONTENT


def remove_session(call: Call) -> Answer:
    """``DELETE …/scopes/{scope}/sessions/{session}``: what the scope knew from it goes too."""
    workspace_id, session_id = call.path["workspace"], call.path["session"]
    scope = require_scope(workspace_id, find_workspace(call), call.path["scope"])
    workspace = open_workspace(call, workspace_id)
    require_session(workspace_id, workspace, session_id)
    scope.sessions.pop(session_id, None)
    scope.backfills.pop(session_id, None)
    observer = SCOPE_PREFIX + scope.row.id
    gone = [
        held.row.id
        for held in workspace.conclusions.values()
        if held.row.observer_id == observer and held.row.session_id == session_id
    ]
    for conclusion_id in gone:
        workspace.drop_conclusion(conclusion_id)
    call.store.changed()
    return NO_CONTENT


def list_scope_sessions(call: Call) -> Answer:
    """``POST …/scopes/{scope}/sessions/list``: the longest member first."""
    query = read_query(call.query)
    paging = read_paging(query)
    query.check()
    scope = require_scope(call.path["workspace"], find_workspace(call), call.path["scope"])
    workspace = open_workspace(call, call.path["workspace"])
    return Answer.of(cut_page([workspace.sessions[one].row for one in scope.sessions], paging))


def read_status(call: Call) -> Answer:
    """``GET …/scopes/{scope}/status``."""
    scope = require_scope(call.path["workspace"], find_workspace(call), call.path["scope"])
    return Answer.of(ScopeStatus({session: _show(job) for session, job in scope.backfills.items()}))


def _show(job: Backfill) -> BackfillOut:
    return BackfillOut(job.state, job.updated_at, UNSET if job.docs_copied is None else job.docs_copied)


ROUTES: Final = (
    Route("POST", _SCOPES, create_scope),
    Route("POST", f"{_SCOPES}/list", list_scopes),
    Route("GET", _SCOPE, read_scope),
    Route("POST", f"{_SCOPE}/sessions", add_sessions),
    Route("DELETE", f"{_SCOPE}/sessions/{{session}}", remove_session),
    Route("POST", f"{_SCOPE}/sessions/list", list_scope_sessions),
    Route("GET", f"{_SCOPE}/status", read_status),
)

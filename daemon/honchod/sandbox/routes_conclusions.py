"""Conclusions: create, list, query, delete."""

from __future__ import annotations

from typing import Final

from .calls import NO_CONTENT, Answer, Call, Route, cut_page, read_paging
from .errors import Broken, Refused
from .fields import Fields, read_body, read_optional_body, read_query
from .filters import CONCLUSION_COLUMNS, compile_filter
from .limits import (
    CONCLUSION_CHARS,
    CONCLUSIONS_PER_REQUEST,
    refused_token,
    refused_token_text,
)
from .model import Conclusion
from .ranking import nearest
from .store import HeldConclusion
from .tenancy import find_workspace, open_workspace, require_peer, require_session

_CONCLUSIONS: Final = "/v3/workspaces/{workspace}/conclusions"


def create_conclusions(call: Call) -> Answer:
    """``POST …/conclusions``: all or nothing; peers and sessions must be there."""
    body = read_body(call.body)
    items = body.objects("conclusions", min_items=1, max_items=CONCLUSIONS_PER_REQUEST)
    rows = [_read(call, item) for item in items]
    body.check()
    workspace_id, workspace = call.path["workspace"], find_workspace(call)
    for row in rows:
        if row.session_id is not None:
            require_session(workspace_id, workspace, row.session_id)
    for row in rows:
        require_peer(call, row.observer_id)
        require_peer(call, row.observed_id)
    if call.llm_down:
        raise Broken
    state = open_workspace(call, workspace_id)
    for row in rows:
        state.add_conclusion(HeldConclusion(row, row.created_at))
    call.store.changed()
    return Answer.of(rows, 201)


def list_conclusions(call: Call) -> Answer:
    """``POST …/conclusions/list``: the newest first."""
    body = read_optional_body(call.body)
    query = read_query(call.query)
    paging = read_paging(query)
    filters = body.object_or_none("filters") if body else None
    if body:
        body.check()
    query.check()
    wanted = compile_filter(filters, CONCLUSION_COLUMNS, "Document")
    workspace = find_workspace(call)
    rows = [held.row for held in (workspace.conclusions.values() if workspace else ()) if wanted(held.row)]
    # Those of one request share a time, and stay in its order either way.
    newest_first = sorted(rows, key=lambda row: row.created_at.rstrip("Z"), reverse=not paging.reverse)
    return Answer.of(cut_page(newest_first, paging.forward()))


def query_conclusions(call: Call) -> Answer:
    """``POST …/conclusions/query``: the nearest of one pair."""
    body = read_body(call.body)
    text = body.text("query")
    top_k = body.integer("top_k", default=10, ge=1, le=100)
    max_distance = body.number_or_none("distance", ge=0.0, le=1.0)
    filters = body.object_or_none("filters") or {}
    body.check()
    observer = filters.get("observer") or filters.get("observer_id")
    observed = filters.get("observed") or filters.get("observed_id")
    if not observer or not observed:
        raise Refused(
            422,
            "observer and observed must be specified for semantic search. "
            "Pass them inside the 'filters' object, e.g. "
            '{"query": "...", "filters": {"observer": "alice", "observed": "bob"}}. '
            "Both 'observer'/'observer_id' and 'observed'/'observed_id' are accepted.",
        )
    wanted = compile_filter(filters, CONCLUSION_COLUMNS, "Document")
    if call.llm_down:
        raise Broken
    workspace = find_workspace(call)
    held = workspace.pairs.get((observer, observed), {}).values() if workspace else ()
    rows = [one.row for one in held if wanted(one.row)]
    found = nearest(rows, text, lambda row: row.content, limit=top_k, max_distance=max_distance)
    return Answer.of(found)


def delete_conclusion(call: Call) -> Answer:
    """``DELETE …/conclusions/{conclusion}``."""
    conclusion_id, workspace_id = call.path["conclusion"], call.path["workspace"]
    workspace = find_workspace(call)
    if workspace is None or not workspace.drop_conclusion(conclusion_id):
        text = f"Document {conclusion_id} not found or does not belong to workspace {workspace_id}"
        raise Refused(404, text)
    call.store.changed()
    return NO_CONTENT


def _read(call: Call, item: Fields) -> Conclusion:
    errors_before = item.error_count()
    content = item.text("content", min_chars=1, max_chars=CONCLUSION_CHARS).replace("\0", "")
    row = Conclusion(
        id=call.ids.next(),
        content=content,
        observer_id=item.text("observer_id"),
        observed_id=item.text("observed_id"),
        session_id=item.text_or_none("session_id"),
        level="explicit",
        created_at=call.now,
    )
    token = refused_token(content)
    if token is not None and item.error_count() == errors_before:
        item.refuse((), refused_token_text(token), item.raw())
    return row


ROUTES: Final = (
    Route("POST", _CONCLUSIONS, create_conclusions),
    Route("POST", f"{_CONCLUSIONS}/list", list_conclusions),
    Route("POST", f"{_CONCLUSIONS}/query", query_conclusions),
    Route("DELETE", f"{_CONCLUSIONS}/{{conclusion}}", delete_conclusion),
)

"""Sessions, their peers and their peers' flags."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from .calls import NO_CONTENT, Answer, Call, Route, cut_page, read_paging
from .configuration import read_configuration, read_peer_config
from .errors import Refused
from .fields import read_body, read_optional_body, read_query, read_texts_body
from .filters import RESOURCE_COLUMNS, compile_filter
from .limits import SCOPES_PER_REQUEST, scope_id_problem
from .model import Peer, PeerConfig, Session
from .store import Membership, SessionState
from .tenancy import (
    check_observers,
    enter_scope,
    find_workspace,
    open_peers,
    open_scope,
    open_session,
    refuse_observers,
    require_peer,
    require_session,
    update_session,
)

_SESSIONS: Final = "/v3/workspaces/{workspace}/sessions"
_SESSION: Final = f"{_SESSIONS}/{{session}}"


def create_session(call: Call) -> Answer:
    """``POST …/sessions``: gets or creates; 201 when it was created."""
    body = read_body(call.body)
    session_id = body.resource_id(call.behaviour.id_chars)
    metadata = body.metadata_or_none()
    configuration = read_configuration(body)
    body.object_or_none("peers")
    peers = {peer: read_peer_config(fields) for peer, fields in body.children_of("peers")}
    scopes = body.texts_or_none("scopes", max_items=SCOPES_PER_REQUEST) or []
    for scope_id in scopes:
        problem = scope_id_problem(scope_id)
        if problem is not None:
            body.refuse(("scopes",), problem, scopes)
    body.check()
    workspace, session, created = open_session(call, session_id, peers)
    update_session(call, session, metadata, configuration)
    for scope_id in scopes:
        enter_scope(call, workspace, open_scope(call, workspace, scope_id)[0], session)
    return Answer.of(session.row, 201 if created else 200)


def list_sessions(call: Call) -> Answer:
    """``POST …/sessions/list``."""
    workspace = find_workspace(call)
    return page_of_sessions(call, list(workspace.sessions.values()) if workspace else [])


def list_sessions_of_peer(call: Call) -> Answer:
    """``POST …/peers/{peer}/sessions``: those the peer is in now."""
    workspace = find_workspace(call)
    peer = call.path["peer"]
    sessions = [
        session
        for session in (workspace.sessions.values() if workspace else ())
        if (member := session.members.get(peer)) is not None and member.active
    ]
    return page_of_sessions(call, sessions)


def page_of_sessions(call: Call, sessions: list[SessionState]) -> Answer:
    """The page of these sessions that the call asks for."""
    body = read_optional_body(call.body)
    query = read_query(call.query)
    paging = read_paging(query)
    filters = body.object_or_none("filters") if body else None
    if body:
        body.check()
    query.check()
    wanted = compile_filter(filters, RESOURCE_COLUMNS, "Session")
    rows: list[Session] = [session.row for session in sessions if wanted(session.row)]
    return Answer.of(cut_page(rows, paging))


def change_session(call: Call) -> Answer:
    """``PUT …/sessions/{session}``: gets or creates, then replaces metadata and merges configuration."""
    body = read_body(call.body)
    metadata = body.metadata_or_none()
    configuration = read_configuration(body)
    body.check()
    session = open_session(call, call.path["session"]).session
    update_session(call, session, metadata, configuration)
    return Answer.of(session.row)


def delete_session(call: Call) -> Answer:
    """``DELETE …/sessions/{session}``: inactive at once, gone a moment later."""
    session = require_session(call.path["workspace"], find_workspace(call), call.path["session"])
    session.row = replace(session.row, is_active=False)
    call.store.changed()
    due_at_s = call.now_s + call.behaviour.delete_delay_s
    call.deriver.queue_deletion(call.path["workspace"], session.row.id, due_at_s)
    return Answer.of({"message": "Session deleted successfully"}, 202)


def add_peers(call: Call) -> Answer:
    """``POST …/sessions/{session}/peers``: active members keep their flags."""
    return Answer.of(open_session(call, call.path["session"], _read_peers(call)).session.row)


def set_peers(call: Call) -> Answer:
    """``PUT …/sessions/{session}/peers``: these and no others, with these flags."""
    peers = _read_peers(call)
    refuse_observers(call.path["session"], 0, peers)
    session = require_session(call.path["workspace"], find_workspace(call), call.path["session"])
    open_peers(call, peers)
    for _, member in session.active_members():
        member.active = False
    session.members.update({peer: Membership(config) for peer, config in peers.items()})
    call.store.changed()
    return Answer.of(session.row)


def remove_peers(call: Call) -> Answer:
    """``DELETE …/sessions/{session}/peers``: they leave; their flags stay on record."""
    peers = read_texts_body(call.body)
    session = require_session(call.path["workspace"], find_workspace(call), call.path["session"])
    for peer in peers:
        if peer in session.members:
            session.members[peer].active = False
            call.store.changed()
    return Answer.of(session.row)


def list_peers(call: Call) -> Answer:
    """``GET …/sessions/{session}/peers``: the active members."""
    query = read_query(call.query)
    paging = read_paging(query)
    query.check()
    workspace = find_workspace(call)
    session = workspace.sessions.get(call.path["session"]) if workspace else None
    rows: list[Peer] = []
    if workspace and session:
        rows = [workspace.peers[peer] for peer, _ in session.active_members()]
    return Answer.of(cut_page(rows, paging))


def read_flags(call: Call) -> Answer:
    """``GET …/sessions/{session}/peers/{peer}/config``."""
    workspace_id, session_id, peer = (call.path[key] for key in ("workspace", "session", "peer"))
    require_peer(call, call.path["peer"])
    session = call.store.session(workspace_id, session_id)
    member = session.members.get(peer) if session else None
    if member is None:
        where = f"session {session_id} in workspace {workspace_id}"
        raise Refused(404, f"Session peer {peer} not found in {where}")
    return Answer.of(member.config)


def write_flags(call: Call) -> Answer:
    """``PUT …/sessions/{session}/peers/{peer}/config``: changes the flags that are given."""
    body = read_body(call.body)
    given = read_peer_config(body)
    body.check()
    session = require_session(call.path["workspace"], find_workspace(call), call.path["session"])
    require_peer(call, call.path["peer"])
    peer = call.path["peer"]
    if given.observe_others:
        check_observers(session, {peer: given})
    member = session.members.setdefault(peer, Membership(PeerConfig()))
    member.config = PeerConfig(
        observe_me=member.config.observe_me if given.observe_me is None else given.observe_me,
        observe_others=member.config.observe_others if given.observe_others is None else given.observe_others,
    )
    call.store.changed()
    return NO_CONTENT


def _read_peers(call: Call) -> dict[str, PeerConfig]:
    body = read_body(call.body)
    peers = {peer: read_peer_config(fields) for peer, fields in body.children()}
    body.check()
    return peers


ROUTES: Final = (
    Route("POST", _SESSIONS, create_session),
    Route("POST", f"{_SESSIONS}/list", list_sessions),
    Route("PUT", _SESSION, change_session),
    Route("DELETE", _SESSION, delete_session),
    Route("GET", f"{_SESSION}/peers", list_peers),
    Route("POST", f"{_SESSION}/peers", add_peers),
    Route("PUT", f"{_SESSION}/peers", set_peers),
    Route("DELETE", f"{_SESSION}/peers", remove_peers),
    Route("GET", f"{_SESSION}/peers/{{peer}}/config", read_flags),
    Route("PUT", f"{_SESSION}/peers/{{peer}}/config", write_flags),
    Route("POST", "/v3/workspaces/{workspace}/peers/{peer}/sessions", list_sessions_of_peer),
)

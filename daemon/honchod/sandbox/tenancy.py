"""Getting or creating workspaces, peers, sessions and memberships, by Honcho's rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from .calls import Call
from .errors import Broken, Refused
from .limits import ID_PATTERN, OBSERVERS_PER_SESSION, id_fits
from .model import Json, Peer, PeerConfig, Scope, Session, Workspace
from .store import Backfill, Membership, ScopeState, SessionState, WorkspaceState


def find_workspace(call: Call) -> WorkspaceState | None:
    """The workspace of the call's path, if there is one."""
    return call.store.workspaces.get(call.path["workspace"])


def open_workspace(call: Call, workspace_id: str) -> WorkspaceState:
    """The workspace, created when it is not there. An id that no workspace may have breaks the server."""
    state = call.store.workspaces.get(workspace_id)
    if state is None:
        _require_id(call, workspace_id)
        state = WorkspaceState(Workspace(workspace_id, {}, {}, call.now))
        call.store.workspaces[workspace_id] = state
        call.store.changed()
    return state


def open_peers(call: Call, peer_ids: Iterable[str]) -> WorkspaceState:
    """The workspace of the call's path with these peers, created where they are not there.

    All or nothing: a name that no peer may have is a 422.
    """
    new = _new_peers(call, peer_ids)
    workspace = open_workspace(call, call.path["workspace"])
    for peer in new:
        workspace.peers[peer] = Peer(peer, workspace.row.id, call.now, {}, {})
        call.store.changed()
    return workspace


def require_peer(call: Call, peer_id: str) -> Peer:
    """The peer; 404 when there is none of that id."""
    workspace = find_workspace(call)
    peer = workspace.peers.get(peer_id) if workspace else None
    if peer is None:
        raise Refused(404, f"Peer {peer_id} not found in workspace {call.path['workspace']}")
    return peer


def find_session(workspace: WorkspaceState | None, session_id: str) -> SessionState | None:
    """The session, unless it is unknown or deleted."""
    session = workspace.sessions.get(session_id) if workspace else None
    return session if session is not None and session.row.is_active else None


def require_session(workspace_id: str, workspace: WorkspaceState | None, session_id: str) -> SessionState:
    """The session; 404 when it is unknown or deleted."""
    session = find_session(workspace, session_id)
    if session is None:
        raise Refused(404, f"Session {session_id} not found in workspace {workspace_id}")
    return session


class Opened(NamedTuple):
    """A session that is there now, its workspace, and whether the session was created just now."""

    workspace: WorkspaceState
    session: SessionState
    created: bool


def open_session(call: Call, session_id: str, peers: Mapping[str, PeerConfig] | None = None) -> Opened:
    """The session with these peers as members; it and they are created where they are not there.

    An active member keeps its flags whatever is said here; one that left comes back with the new ones.
    All or nothing: 404 for a session that is deleted and not gone yet, 400 for too many observers, 422 for a
    name that no peer may have, 409 while the workspace is stale; a bad session id breaks the server.
    """
    peers = peers or {}
    workspace_id = call.path["workspace"]
    state = call.store.session(workspace_id, session_id)
    if state is None:
        _require_id(call, workspace_id)
        _require_id(call, session_id)
        _refuse_stale_workspace(call, session_id)
        refuse_observers(session_id, 0, peers)
    else:
        require_session(workspace_id, find_workspace(call), session_id)
        check_observers(state, peers)
    try:
        workspace = open_peers(call, peers)
    except Refused:
        _remember_stale_workspace(call)
        raise
    session = workspace.sessions.get(session_id)
    if session is None:
        row = Session(session_id, True, workspace_id, {}, {}, call.now)
        session = workspace.sessions[session_id] = SessionState(row, call.ids.next())
        call.store.changed()
    _join(call, session, peers)
    return Opened(workspace, session, created=state is None)


def update_session(call: Call, session: SessionState, metadata: Json | None, config: Json | None) -> None:
    """Replace the metadata and merge the configuration, where given."""
    row = session.row
    if metadata is not None:
        row = replace(row, metadata=metadata)
    if config is not None:
        row = replace(row, configuration={**row.configuration, **config})
    if row != session.row:
        session.row = row
        call.store.changed()


def check_observers(session: SessionState, added: Mapping[str, PeerConfig]) -> None:
    """Raise the 400 of too many observers, if these peers would make them."""
    present = sum(
        1 for peer, member in session.active_members() if member.config.observe_others and peer not in added
    )
    refuse_observers(session.row.id, present, added)


def refuse_observers(session_id: str, present: int, added: Mapping[str, PeerConfig]) -> None:
    """Raise the 400 of too many observers; nothing happens when ``added`` brings none."""
    new = sum(1 for config in added.values() if config.observe_others)
    if new and present + new > OBSERVERS_PER_SESSION:
        raise Refused(
            400,
            f"Cannot create session {session_id} with {present + new} observers. "
            f"Maximum allowed is {OBSERVERS_PER_SESSION} observers per session. "
            "Observers are peers with 'observe_others' set to true.",
        )


def open_scope(call: Call, workspace: WorkspaceState, scope_id: str) -> tuple[ScopeState, bool]:
    """The scope and whether it was created just now."""
    created = scope_id not in workspace.scopes
    if created:
        workspace.scopes[scope_id] = ScopeState(Scope(scope_id, {}, call.now))
        call.store.changed()
    return workspace.scopes[scope_id], created


def enter_scope(call: Call, workspace: WorkspaceState, scope: ScopeState, session: SessionState) -> None:
    """Put the session into the scope; what it already holds is copied in the background."""
    if session.row.id in scope.sessions:
        return
    scope.sessions[session.row.id] = None
    call.store.changed()
    if session.messages:
        scope.backfills[session.row.id] = Backfill("pending", call.now)
        call.deriver.queue_backfill(workspace.row.id, scope.row.id, session.row.id, call.now_s)


def require_scope(workspace_id: str, workspace: WorkspaceState | None, scope_id: str) -> ScopeState:
    """The scope; 404 when there is none of that id."""
    scope = workspace.scopes.get(scope_id) if workspace else None
    if scope is None:
        raise Refused(404, f"Scope {scope_id} not found in workspace {workspace_id}")
    return scope


def _require_id(call: Call, value: str) -> None:
    if not id_fits(value, call.behaviour.id_chars):
        raise Broken


def _new_peers(call: Call, peer_ids: Iterable[str]) -> list[str]:
    """Those that are not there yet, once each; 422 if one may not have its name."""
    workspace = find_workspace(call)
    known = workspace.peers if workspace else {}
    new = [peer for peer in dict.fromkeys(peer_ids) if peer not in known]
    limit = call.behaviour.id_chars
    too_long = [peer for peer in new if len(peer) > limit]
    if too_long:
        raise Refused(422, f"Peer name(s) {too_long} must be at most {limit} characters")
    offenders = [peer for peer in new if not id_fits(peer, limit)]
    if offenders:
        raise Refused(422, f"Peer name(s) {offenders} must match pattern {ID_PATTERN}")
    return new


def _join(call: Call, session: SessionState, peers: Mapping[str, PeerConfig]) -> None:
    for peer, config in peers.items():
        member = session.members.get(peer)
        if member is None or not member.active:
            session.members[peer] = Membership(config)
            call.store.changed()


def _remember_stale_workspace(call: Call) -> None:
    """A rejected first request leaves the workspace in the server's cache but not in its database."""
    workspace_id = call.path["workspace"]
    if workspace_id not in call.store.workspaces and call.behaviour.stale_workspace_s > 0:
        call.store.stale_until_s[workspace_id] = call.now_s + call.behaviour.stale_workspace_s
        call.store.changed()


def _refuse_stale_workspace(call: Call, session_id: str) -> None:
    if call.now_s < call.store.stale_until_s.get(call.path["workspace"], 0.0):
        raise Refused(409, f"Unable to create or get session: {session_id}")

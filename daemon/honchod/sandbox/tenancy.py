"""Getting or creating workspaces, peers, sessions and memberships, by Honcho's rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from .calls import Call
from .errors import Broken, Refused
from .limits import ID_PATTERN, OBSERVERS_PER_SESSION, id_fits
from .model import Json, Peer, PeerConfig, Scope, Session, Workspace
from .store import Backfill, Membership, ScopeState, SessionState, WorkspaceState


def find_workspace(call: Call) -> WorkspaceState | None:
    """The workspace of the call's path, if there is one."""
    return call.store.workspaces.get(call.path["workspace"])


def open_workspace(call: Call, workspace_id: str, metadata: Json | None = None) -> WorkspaceState:
    """The workspace, created when it is not there. An id that no workspace may have breaks the server."""
    state = call.store.workspaces.get(workspace_id)
    if state is None:
        if not id_fits(workspace_id, call.behaviour.id_chars):
            raise Broken
        state = WorkspaceState(Workspace(workspace_id, metadata or {}, {}, call.now))
        call.store.workspaces[workspace_id] = state
        call.store.changed()
    return state


def open_peers(call: Call, workspace: WorkspaceState, peer_ids: Iterable[str]) -> None:
    """Create the peers that are not there, in the order given, or none of them."""
    new = [peer for peer in dict.fromkeys(peer_ids) if peer not in workspace.peers]
    limit = call.behaviour.id_chars
    too_long = [peer for peer in new if len(peer) > limit]
    if too_long:
        raise Refused(422, f"Peer name(s) {too_long} must be at most {limit} characters")
    offenders = [peer for peer in new if not id_fits(peer, limit)]
    if offenders:
        raise Refused(422, f"Peer name(s) {offenders} must match pattern {ID_PATTERN}")
    for peer in new:
        workspace.peers[peer] = Peer(peer, workspace.row.id, call.now, {}, {})
        call.store.changed()


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


def open_session(call: Call, workspace: WorkspaceState, session_id: str) -> tuple[SessionState, bool]:
    """The session and whether it was created just now.

    A deleted one answers 404 until it is gone. An id that no session may have breaks the server.
    """
    if session_id in workspace.sessions:
        return require_session(workspace.row.id, workspace, session_id), False
    if not id_fits(session_id, call.behaviour.id_chars):
        raise Broken
    row = Session(session_id, True, workspace.row.id, {}, {}, call.now)
    workspace.sessions[session_id] = SessionState(row, call.ids.next())
    call.store.changed()
    return workspace.sessions[session_id], True


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


def join(
    call: Call, workspace: WorkspaceState, session: SessionState, peers: Mapping[str, PeerConfig]
) -> None:
    """Make the peers members of the session, creating those that are not there.

    An active member keeps its configuration whatever is said here; one that left comes back with the new.
    """
    check_observers(session, peers)
    open_peers(call, workspace, peers)
    for peer, config in peers.items():
        member = session.members.get(peer)
        if member is None or not member.active:
            session.members[peer] = Membership(config)
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

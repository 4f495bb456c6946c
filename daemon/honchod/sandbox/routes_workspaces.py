"""Workspaces and their peers."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from .calls import Answer, Call, Route, cut_page, read_paging
from .configuration import read_configuration
from .errors import Refused
from .fields import read_body, read_optional_body, read_query
from .filters import RESOURCE_COLUMNS, compile_filter
from .model import Json, Peer, Scope, Workspace
from .store import WorkspaceState
from .tenancy import find_workspace, open_peers, open_workspace

_WORKSPACES: Final = "/v3/workspaces"
_WORKSPACE: Final = f"{_WORKSPACES}/{{workspace}}"
_PEERS: Final = f"{_WORKSPACE}/peers"


def create_workspace(call: Call) -> Answer:
    """``POST /v3/workspaces``: gets or creates; 201 when it was created."""
    body = read_body(call.body)
    workspace_id = body.resource_id(call.behaviour.id_chars)
    metadata = body.metadata_or_none()
    configuration = read_configuration(body)
    body.check()
    created = workspace_id not in call.store.workspaces
    workspace = open_workspace(call, workspace_id)
    if created:
        _update(call, workspace, metadata, configuration)
    return Answer.of(workspace.row, 201 if created else 200)


def list_workspaces(call: Call) -> Answer:
    """``POST /v3/workspaces/list``."""
    rows: list[Workspace] = [state.row for state in call.store.workspaces.values()]
    return _page(call, rows, "Workspace")


def change_workspace(call: Call) -> Answer:
    """``PUT /v3/workspaces/{workspace}``: gets or creates, replaces metadata, merges configuration."""
    body = read_body(call.body)
    metadata = body.metadata_or_none()
    configuration = read_configuration(body)
    body.check()
    workspace = open_workspace(call, call.path["workspace"])
    _update(call, workspace, metadata, configuration)
    return Answer.of(workspace.row)


def delete_workspace(call: Call) -> Answer:
    """``DELETE /v3/workspaces/{workspace}``: only once its sessions are deleted."""
    workspace_id = call.path["workspace"]
    workspace = find_workspace(call)
    if workspace is None:
        raise Refused(404, f"Workspace {workspace_id} not found")
    if any(session.row.is_active for session in workspace.sessions.values()):
        text = f"Cannot delete workspace '{workspace_id}': active session(s) remain. "
        raise Refused(409, f"{text}Delete all sessions first.")
    del call.store.workspaces[workspace_id]
    call.store.changed()
    return Answer.of({"message": "Workspace deletion accepted"}, 202)


def create_peer(call: Call) -> Answer:
    """``POST …/peers``: gets or creates; given metadata and configuration replace what is there."""
    body = read_body(call.body)
    peer_id = body.resource_id(call.behaviour.id_chars)
    metadata, configuration = body.metadata_or_none(), body.object_or_none("configuration")
    body.check()
    known = find_workspace(call)
    created = known is None or peer_id not in known.peers
    workspace = open_peers(call, [peer_id])
    return Answer.of(_update_peer(call, workspace, peer_id, metadata, configuration), 201 if created else 200)


def change_peer(call: Call) -> Answer:
    """``PUT …/peers/{peer}``: gets or creates, then replaces what is given."""
    body = read_body(call.body)
    metadata, configuration = body.metadata_or_none(), body.object_or_none("configuration")
    body.check()
    workspace = open_peers(call, [call.path["peer"]])
    return Answer.of(_update_peer(call, workspace, call.path["peer"], metadata, configuration))


def list_peers(call: Call) -> Answer:
    """``POST …/peers/list``."""
    workspace = find_workspace(call)
    return _page(call, list(workspace.peers.values()) if workspace else [], "Peer")


def _page(call: Call, rows: list[Workspace] | list[Peer] | list[Scope], row_name: str) -> Answer:
    body = read_optional_body(call.body)
    query = read_query(call.query)
    paging = read_paging(query)
    filters = body.object_or_none("filters") if body else None
    if body:
        body.check()
    query.check()
    wanted = compile_filter(filters, RESOURCE_COLUMNS, row_name)
    return Answer.of(cut_page([row for row in rows if wanted(row)], paging))


def _update(call: Call, workspace: WorkspaceState, metadata: Json | None, configuration: Json | None) -> None:
    row = workspace.row
    if metadata is not None:
        row = replace(row, metadata=metadata)
    if configuration is not None:
        row = replace(row, configuration={**row.configuration, **configuration})
    if row != workspace.row:
        workspace.row = row
        call.store.changed()


def _update_peer(
    call: Call, workspace: WorkspaceState, peer_id: str, metadata: Json | None, configuration: Json | None
) -> Peer:
    row = workspace.peers[peer_id]
    if metadata is not None:
        row = replace(row, metadata=metadata)
    if configuration is not None:
        row = replace(row, configuration=configuration)
    if row != workspace.peers[peer_id]:
        workspace.peers[peer_id] = row
        call.store.changed()
    return row


ROUTES: Final = (
    Route("POST", _WORKSPACES, create_workspace),
    Route("POST", f"{_WORKSPACES}/list", list_workspaces),
    Route("PUT", _WORKSPACE, change_workspace),
    Route("DELETE", _WORKSPACE, delete_workspace),
    Route("POST", _PEERS, create_peer),
    Route("PUT", f"{_PEERS}/{{peer}}", change_peer),
    Route("POST", f"{_PEERS}/list", list_peers),
)

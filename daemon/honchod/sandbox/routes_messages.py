"""Messages: store, list, read, update, upload."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from .calls import Answer, Call, Route, cut_page, read_paging
from .clock import Instant, TimeProblem, read_instant
from .errors import Broken, Refused
from .fields import Fields, read_body, read_optional_body, read_query
from .filters import MESSAGE_COLUMNS, compile_filter
from .limits import (
    CONTENT_CHARS,
    MESSAGES_PER_REQUEST,
    approximate_tokens,
    has_unhandled_token,
    is_storable,
    refused_token,
    refused_token_text,
)
from .model import Json, PeerConfig, StoredMessage
from .store import SessionState, WorkspaceState
from .tenancy import find_workspace, open_session

_BASE: Final = "/v3/workspaces/{workspace}/sessions/{session}/messages"


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a batch, as the caller gave it."""

    peer_id: str
    content: str
    metadata: Json
    created_at: Instant | None


def store_messages(call: Call) -> Answer:
    """``POST …/messages``: a batch, all of it or nothing."""
    body = read_body(call.body)
    batch = [
        _read_message(item) for item in body.objects("messages", min_items=1, max_items=MESSAGES_PER_REQUEST)
    ]
    body.check()
    return Answer.of(_store(call, batch), 201)


def upload_messages(call: Call) -> Answer:
    """``POST …/messages/upload``: a text file, cut into messages of the allowed length."""
    form = call.upload
    if form is None or "peer_id" not in form.fields:
        fields = Fields(form.fields if form else {}, ("body",), [])
        fields.text("peer_id")
        fields.check()
        raise Broken
    text = form.content.decode("utf-8", "replace").replace("\0", "")
    metadata = _read_form_metadata(form.fields.get("metadata"))
    created_at = _read_form_time(form.fields.get("created_at"))
    parts = [text[start : start + CONTENT_CHARS] for start in range(0, len(text), CONTENT_CHARS)]
    batch = [Said(form.fields["peer_id"], part, metadata, created_at) for part in parts]
    return Answer.of(_store(call, batch), 201)


def list_messages(call: Call) -> Answer:
    """``POST …/messages/list``: in storage order; one unreadable time breaks the page it is on."""
    body = read_optional_body(call.body)
    query = read_query(call.query)
    filters = body.object_or_none("filters") if body else None
    paging = read_paging(query)
    if body:
        body.check()
    query.check()
    if not call.behaviour.heeds_filters:
        filters = None
    wanted = compile_filter(filters, MESSAGE_COLUMNS, "Message")
    session = call.store.session(call.path["workspace"], call.path["session"])
    page = cut_page([m for m in session.messages if wanted(m)] if session else [], paging)
    if session:
        check_readable(session, page.items)
    return Answer.of(page)


def read_message(call: Call) -> Answer:
    """``GET …/messages/{message}``."""
    session, place = _find(call, f"Message with ID {call.path['message']} not found")
    check_readable(session, [session.messages[place]])
    return Answer.of(session.messages[place])


def update_message(call: Call) -> Answer:
    """``PUT …/messages/{message}``: replaces the metadata."""
    body = read_body(call.body)
    metadata = body.metadata_or_none()
    body.check()
    session, place = _find(call, "Message not found")
    if metadata is not None:
        session.messages[place] = replace(session.messages[place], metadata=metadata)
        call.store.changed()
    return Answer.of(session.messages[place])


def check_readable(session: SessionState, messages: list[StoredMessage]) -> None:
    """Raise ``Broken`` when one of the messages has a time that the database driver cannot read."""
    if session.unreadable and any(message.id in session.unreadable for message in messages):
        raise Broken


def _read_message(item: Fields) -> Said:
    """Read one message; its control tokens are looked at only when its fields are right."""
    errors_before = item.error_count()
    content = item.text("content", max_chars=CONTENT_CHARS).replace("\0", "")
    said = Said(
        peer_id=item.text("peer_id"),
        content=content,
        metadata=item.metadata_or_none() or {},
        created_at=item.instant_or_none("created_at"),
    )
    item.object_or_none("configuration")
    token = refused_token(content)
    if token is not None and item.error_count() == errors_before:
        item.refuse((), refused_token_text(token), item.raw())
    return said


def _store(call: Call, batch: list[Said]) -> list[StoredMessage]:
    """Store a batch that was read.

    Session and members are committed first, and remain when the batch then breaks the server.
    """
    peers = {said.peer_id: PeerConfig() for said in batch}
    workspace, session, _ = open_session(call, call.path["session"], peers)
    if any(has_unhandled_token(said.content) for said in batch):
        raise Broken
    messages = [_stored(call, workspace, session, said) for said in batch]
    unreadable = {
        message.id
        for message, said in zip(messages, batch, strict=True)
        if said.created_at is not None and not said.created_at.readable
    }
    session.append(messages, unreadable)
    call.store.changed()
    call.deriver.queue_messages(workspace, session, messages, call.now_s, fails=call.llm_down)
    return messages


def _stored(call: Call, workspace: WorkspaceState, session: SessionState, said: Said) -> StoredMessage:
    return StoredMessage(
        id=call.ids.next(),
        content=said.content,
        peer_id=said.peer_id,
        session_id=session.row.id,
        metadata=said.metadata,
        created_at=said.created_at.text if said.created_at else call.now,
        workspace_id=workspace.row.id,
        token_count=approximate_tokens(said.content),
    )


def _find(call: Call, missing: str) -> tuple[SessionState, int]:
    workspace = find_workspace(call)
    session = workspace.sessions.get(call.path["session"]) if workspace else None
    place = session.places.get(call.path["message"]) if session else None
    if session is None or place is None:
        raise Refused(404, missing)
    return session, place


def _read_form_metadata(text: str | None) -> Json:
    """The metadata of an upload; what is no JSON object is ignored, as the server does."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    fields = Fields({"metadata": value}, ("body",), [], storable=is_storable(value))
    metadata = fields.metadata_or_none()
    fields.check()
    return metadata or {}


def _read_form_time(text: str | None) -> Instant | None:
    """The time of an upload; what is none is ignored, as the server does."""
    try:
        return read_instant(text) if text else None
    except TimeProblem:
        return None


ROUTES: Final = (
    Route("POST", _BASE, store_messages),
    Route("POST", f"{_BASE}/", store_messages),
    Route("POST", f"{_BASE}/upload", upload_messages),
    Route("POST", f"{_BASE}/list", list_messages),
    Route("GET", f"{_BASE}/{{message}}", read_message),
    Route("PUT", f"{_BASE}/{{message}}", update_message),
)

"""Whose knowledge of whom a recall is about, and from which sessions.

Each narrowing excludes the others: one scope takes the observer's place, several scopes allow their
sessions, ``filters`` allow the sessions they list, ``session_id`` allows one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from .calls import Call
from .errors import Refused
from .fields import Fields
from .limits import ID_PATTERN, SCOPE_PREFIX, SCOPES_PER_REQUEST, SESSIONS_PER_ALLOWLIST, id_fits
from .model import Json
from .recall import REPRESENTATION_CONCLUSIONS, Wanted
from .tenancy import find_workspace, require_scope


@dataclass(frozen=True, slots=True)
class Sight:
    """An observer, the observed, and the sessions that count (``None``: all)."""

    observer: str
    observed: str
    sessions: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """How conclusions are looked for."""

    query: str | None
    top_k: int | None
    max_distance: float | None
    limit: int

    def wanted(self, sight: Sight, *, llm_down: bool) -> Wanted:
        """The conclusions to select. Without a model only the newest can be had."""
        return Wanted(
            observer=sight.observer,
            observed=sight.observed,
            sessions=sight.sessions,
            query=None if llm_down else self.query,
            top_k=self.top_k,
            max_distance=self.max_distance,
            limit=self.limit,
        )


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The options of a body that narrow a recall."""

    session_id: str | None
    filters: Json | None
    scope: str | None
    scopes: list[str] | None
    target: str | None


def read_search(fields: Fields, *, default_limit: int = REPRESENTATION_CONCLUSIONS) -> Search:
    """Read the ``search_…`` options of a query or a body."""
    fields.boolean_or_none("include_most_frequent")
    return Search(
        query=fields.text_or_none("search_query"),
        top_k=fields.integer_or_none("search_top_k", ge=1, le=100),
        max_distance=fields.number_or_none("search_max_distance", ge=0.0, le=1.0),
        limit=fields.integer("max_conclusions", default=default_limit, ge=1, le=100),
    )


def read_narrowing(body: Fields) -> Narrowing:
    """Read the options; ``body.check`` tells whether they were valid."""
    several = isinstance(body.raw().get("scope"), list)
    scopes = body.texts_or_none("scope", min_items=1, max_items=SCOPES_PER_REQUEST) if several else None
    return Narrowing(
        session_id=body.text_or_none("session_id"),
        filters=body.object_or_none("filters"),
        scope=None if several else body.text_or_none("scope"),
        scopes=scopes,
        target=body.text_or_none("target"),
    )


def resolve(call: Call, narrowing: Narrowing) -> Sight:
    """What the path's peer sees of the target (itself without one) under the options.

    Raises ``Refused``: 422 for options that exclude each other, 404 for an unknown scope.
    """
    peer = call.path["peer"]
    observed = peer if narrowing.target is None else narrowing.target
    if narrowing.scope is None and narrowing.scopes is None:
        allowed = read_allowlist(narrowing.filters, must_include=narrowing.session_id)
        return Sight(peer, observed, [narrowing.session_id] if narrowing.session_id else allowed)
    if narrowing.filters is not None:
        raise Refused(422, "`scope` and `filters` are mutually exclusive")
    if narrowing.session_id:
        raise Refused(422, "`scope` and `session_id` are mutually exclusive")
    workspace_id, workspace = call.path["workspace"], find_workspace(call)
    if narrowing.scope is not None:
        require_scope(workspace_id, workspace, narrowing.scope)
        return Sight(SCOPE_PREFIX + narrowing.scope, observed)
    union: dict[str, None] = {}
    for scope_id in narrowing.scopes or ():
        union |= require_scope(workspace_id, workspace, scope_id).sessions
    return Sight(peer, observed, list(union))


def read_allowlist(filters: Json | None, *, must_include: str | None) -> list[str] | None:
    """The sessions that ``filters`` allow, where only ``session_id`` may be filtered on."""
    if filters is None:
        return None
    unsupported = sorted(set(filters) - {"session_id"})
    if unsupported:
        text = f"Unsupported filter key(s) for this endpoint: {unsupported}. Only 'session_id' is supported."
        raise Refused(422, text)
    if "session_id" not in filters:
        raise Refused(422, "filters must contain 'session_id'")
    value: Any = filters["session_id"]
    if isinstance(value, str):
        value = [value]
    elif isinstance(value, dict) and set(value) == {"in"}:
        value = value["in"]
    if not isinstance(value, list):
        text = 'filters.session_id must be a session id, a list of session ids, or {"in": [...]}'
        raise Refused(422, text)
    return check_allowlist(value, "filters.session_id", must_include=must_include)


def check_allowlist(entries: list[Any], field: str, *, must_include: str | None) -> list[str]:
    """The allowed sessions, once each; raises ``Refused`` (422) for what is no session id."""
    if len(entries) > SESSIONS_PER_ALLOWLIST:
        raise Refused(422, f"{field} supports at most {SESSIONS_PER_ALLOWLIST} sessions per request")
    for entry in entries:
        if not isinstance(entry, str) or not entry:
            raise Refused(422, f"{field} entries must be non-empty strings")
        if not id_fits(entry):
            text = f"Invalid session id in {field}: {entry!r}. Session ids match {ID_PATTERN}"
            raise Refused(422, text)
    if must_include is not None and must_include not in entries:
        raise Refused(422, f"session_id must be included in {field}")
    return list(dict.fromkeys(entries))

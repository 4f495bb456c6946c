"""All routes of the API."""

from __future__ import annotations

from typing import Final

from . import (
    routes_conclusions,
    routes_context,
    routes_messages,
    routes_peers,
    routes_queue,
    routes_scopes,
    routes_search,
    routes_sessions,
    routes_workspaces,
)
from .calls import Answer, Call, Route


def health(_: Call) -> Answer:
    """``GET /health``: always well."""
    return Answer.of({"status": "ok"})


ROUTES: Final = (
    Route("GET", "/health", health),
    *routes_workspaces.ROUTES,
    *routes_sessions.ROUTES,
    *routes_messages.ROUTES,
    *routes_context.ROUTES,
    *routes_peers.ROUTES,
    *routes_search.ROUTES,
    *routes_conclusions.ROUTES,
    *routes_scopes.ROUTES,
    *routes_queue.ROUTES,
)

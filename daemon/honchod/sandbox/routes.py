"""All routes of the API."""

from __future__ import annotations

from typing import Final

from . import routes_messages, routes_sessions, routes_workspaces
from .calls import Answer, Call, Route


def health(_: Call) -> Answer:
    """``GET /health``: always well."""
    return Answer.of({"status": "ok"})


ROUTES: Final = (
    Route("GET", "/health", health),
    *routes_workspaces.ROUTES,
    *routes_sessions.ROUTES,
    *routes_messages.ROUTES,
)

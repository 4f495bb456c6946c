"""Reading the settings that callers give to workspaces, sessions and their peers."""

from __future__ import annotations

from .fields import Fields
from .model import Json, PeerConfig


def read_configuration(fields: Fields) -> Json | None:
    """The ``configuration`` of a workspace or session, without what is null; bounds are checked."""
    given = fields.object_or_none("configuration")
    if given is None:
        return None
    for key, part in fields.children_of("configuration"):
        if key == "summary":
            part.boolean_or_none("enabled")
            part.integer_or_none("messages_per_short_summary", ge=10)
            part.integer_or_none("messages_per_long_summary", ge=20)
        elif key in ("reasoning", "dream"):
            part.boolean_or_none("enabled")
    return {key: _without_null(value) for key, value in given.items() if value is not None}


def read_peer_config(fields: Fields) -> PeerConfig:
    """The observation flags of a peer in a session."""
    return PeerConfig(
        observe_me=fields.boolean_or_none("observe_me"),
        observe_others=fields.boolean_or_none("observe_others"),
    )


def _without_null(value: object) -> object:
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if item is not None}
    return value

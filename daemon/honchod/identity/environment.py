"""The environment names that the ecosystem shares, as one level of a host's configuration."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from honchod.identity import fields
from honchod.identity.block import Block
from honchod.identity.destinations import AddressKeys

_PREFIX: Final = "HONCHO_"

_NAMES: Final = {
    "api_key": ("HONCHO_API_KEY",),
    "base_url": ("HONCHO_API_URL", "HONCHO_BASE_URL"),
    "mcp_url": ("HONCHO_MCP_URL",),
    "workspace": ("HONCHO_WORKSPACE_ID",),
    "peer_name": ("HONCHO_USER_ID",),
    "ai_peer": ("HONCHO_AGENT_PEER_ID",),
    "context_tokens": ("HONCHO_MAX_CONTEXT_TOKENS",),
    "scope_strategy": ("HONCHO_SCOPE_STRATEGY",),
    "scope_prefix": ("HONCHO_SCOPE_PREFIX",),
    "scope_custom": ("HONCHO_SCOPE_CUSTOM",),
}
"""By field of a block; where several names are set, the first counts. The rest of the shared names concern
the daemon and not a host: see ``service.settings``."""


def take(environ: MutableMapping[str, str]) -> dict[str, str]:
    """A copy of the environment, out of which every ``HONCHO_`` name is then taken.

    The SDK reads those names by itself when it is given nothing: a client of a local server would pick up
    the key of the cloud.
    """
    copy = dict(environ)
    for name in copy:
        if name.startswith(_PREFIX):
            del environ[name]
    return copy


def read(environ: Mapping[str, str], problems: list[str]) -> Block:
    """The shared names as a block. An empty value counts as absent; faults are added to ``problems``."""
    values: dict[str, Any] = {}
    for field_name in _NAMES:
        name = _name(environ, field_name)
        text = environ.get(name)
        if text:
            raw = _number(text) if field_name == "context_tokens" else text
            values[field_name] = fields.convert(
                fields.keys(Block)[field_name], raw, key=name, problems=problems
            )
    return Block(**values)


def address_keys(environ: Mapping[str, str]) -> AddressKeys:
    """The names that the URLs and the key come from."""
    return AddressKeys(
        url=_name(environ, "base_url"), mcp_url=_name(environ, "mcp_url"), key=_name(environ, "api_key")
    )


def _name(environ: Mapping[str, str], field_name: str) -> str:
    """The name that counts: the first one that is set, else simply the first."""
    names = _NAMES[field_name]
    return next((name for name in names if environ.get(name)), names[0])


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() else text

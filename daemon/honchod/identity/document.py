"""Changing the Honcho config file without touching what is not ours.

The file is shared: other programs keep keys of their own in it, and the same key under another spelling. A
change keeps both the unknown keys and the spelling that is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from honchod.identity.block import SPELLINGS, Block
from honchod.identity.fields import keys
from honchod.identity.host import DEFAULT_HOST, canonical_name


def change(document: Mapping[str, Any], host: str | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The document with ``changes`` (key to value, None to remove) made in a host's block.

    ``host`` None is the root of the file, and so is ``default`` where no such block stands. A block that is
    not there yet is made. The document itself stays as it is. Values are not checked here.
    """
    tables = document.get("hosts")
    tables = tables if isinstance(tables, Mapping) else {}
    name = _written_name(tables, host) if host is not None else None
    if name is None or (name == DEFAULT_HOST and name not in tables):
        return _changed(document, changes)
    block = tables.get(name)
    block = block if isinstance(block, Mapping) else {}
    return {**document, "hosts": {**tables, name: _changed(block, changes)}}


def block_of(document: Mapping[str, Any], host: str) -> Mapping[str, Any]:
    """A host's own block as it stands in the document; empty where there is none."""
    tables = document.get("hosts")
    block = tables.get(_written_name(tables, host)) if isinstance(tables, Mapping) else None
    return block if isinstance(block, Mapping) else {}


def _written_name(tables: Mapping[str, Any], host: str) -> str:
    """The host's name as the file spells it: ``hermes.coder`` stays that."""
    wanted = canonical_name(host)
    return next((name for name in tables if canonical_name(name) == wanted), wanted)


def _changed(block: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    changed = dict(block)
    for key, value in changes.items():
        spellings = _spellings(key)
        present = [name for name in spellings if name in changed]
        if value is not None:
            changed[present[0] if present else key] = value
            continue
        for name in present:
            del changed[name]
    return changed


def _spellings(key: str) -> tuple[str, ...]:
    """Every name of the key, in the order in which they count."""
    for field in keys(Block).values():
        names = (field.encode_name, *SPELLINGS.get(field.name, ()))
        if key in names:
            return names
    return (key,)

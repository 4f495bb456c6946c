"""The settings of a plugin: what was saved for it, else its defaults."""

from __future__ import annotations

import json
from typing import Any

from helpers.extension import ROOT


def get_plugin_config(plugin_name: str, agent: Any = None) -> dict[str, Any]:
    """The settings that hold; the defaults are one level of ``key: value``."""
    place = ROOT / "usr" / "plugins" / plugin_name
    saved = place / "config.json"
    if saved.exists():
        return dict(json.loads(saved.read_text()))
    lines = (place / "default_config.yaml").read_text().splitlines()
    pairs = (line.split(":", 1) for line in lines if line and not line.startswith("#"))
    return {key: {"true": True, '""': ""}.get(value.strip(), value.strip()) for key, value in pairs}

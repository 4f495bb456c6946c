"""The project of a chat."""

from __future__ import annotations

from typing import Any

from helpers.extension import ROOT


def get_context_project_name(context: Any) -> str | None:
    """The project that is active in a chat."""
    name = context.get_data("project")
    return str(name) if name else None


def get_project_folder(name: str) -> str:
    """Where a project's files are."""
    return str(ROOT / "usr" / "projects" / name)

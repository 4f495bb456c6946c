"""A chat that is reset."""

from __future__ import annotations

from typing import Any

from helpers.extension import Extension
from usr.plugins.honchod.helpers.daemon import chat_of


class BeginAnew(Extension):
    """Runs after ``AgentContext.reset``."""

    def execute(self, data: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """What follows is another conversation."""
        if data and not data.get("exception"):
            chat_of(data["args"][0]).begin_anew()

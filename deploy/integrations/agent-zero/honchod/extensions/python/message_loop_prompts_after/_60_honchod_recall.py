"""Memory in the prompt of the primary agent."""

from __future__ import annotations

import asyncio
from typing import Any

from helpers.extension import Extension
from usr.plugins.honchod.helpers.daemon import QUERY, chat_of


class RecallMemory(Extension):
    """Runs before each call of the model; asks once for each message of the user."""

    async def execute(self, loop_data: Any = None, **kwargs: Any) -> None:
        """Put what the daemon has at hand beside the history."""
        if self.agent is None or self.agent.number != 0 or not (query := self.agent.data.pop(QUERY, "")):
            return
        chat = chat_of(self.agent.context)
        if not chat.recalls:
            return
        if text := await asyncio.to_thread(chat.recall, query):
            loop_data.extras_persistent["honcho_memory"] = text

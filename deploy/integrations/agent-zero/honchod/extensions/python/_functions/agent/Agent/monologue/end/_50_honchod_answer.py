"""The final answer of an agent, as ``Agent.monologue`` returns it."""

from __future__ import annotations

import asyncio
from typing import Any

from agent import AgentContextType
from helpers.extension import Extension
from usr.plugins.honchod.helpers.daemon import chat_of


class HandOverAnswer(Extension):
    """Runs after ``Agent.monologue``. A subordinate reports to its superior, not to the user."""

    async def execute(self, data: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Hand the answer over."""
        answer = data.get("result") if data else None
        if self.agent is None or not isinstance(answer, str):
            return
        author = "assistant" if self.agent.number == 0 else "subagent"
        if self.agent.context.type is AgentContextType.BACKGROUND:
            author = "automation"
        await asyncio.to_thread(chat_of(self.agent.context).write, "assistant", author, answer)

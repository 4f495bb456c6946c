"""The exact words of a user, as they enter the history of the primary agent."""

from __future__ import annotations

from typing import Any

from agent import AgentContextType
from helpers.extension import Extension
from helpers.task_scheduler import TaskScheduler
from usr.plugins.honchod.helpers.daemon import QUERY, chat_of


class HandOverUserMessage(Extension):
    """Runs after ``Agent.hist_add_user_message``: for a message, an intervention, a scheduled task."""

    def execute(self, data: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Hand it over, and remember it as what memory is to be recalled for."""
        agent = self.agent
        if agent is None or agent.number != 0 or not data or data.get("exception"):
            return
        message = data["kwargs"].get("message") or data["args"][1]
        agent.set_data(QUERY, message.message)
        chat = chat_of(agent.context)
        chat.write("user", _author(agent.context, message.message), message.message, message.id)


def _author(context: Any, text: str) -> str:
    if context.type is AgentContextType.BACKGROUND:
        return "automation"
    running = TaskScheduler.get().get_tasks_by_context_id(context.id, only_running=True)
    return "cron" if any(task.prompt in text for task in running) else "human"

"""Tasks that the scheduler runs in a chat."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar


class TaskState(Enum):
    """What a task does."""

    IDLE = "idle"
    RUNNING = "running"


@dataclass
class AdHocTask:
    """A task that is run by hand."""

    prompt: str
    context_id: str
    state: TaskState = TaskState.IDLE
    last_result: str | None = None
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))

    @classmethod
    def create(cls, name: str, system_prompt: str, prompt: str, token: str, context_id: str) -> AdHocTask:
        return cls(prompt, context_id)


class TaskScheduler:
    """All tasks."""

    _one: ClassVar[TaskScheduler | None] = None

    def __init__(self) -> None:
        self._tasks: dict[str, AdHocTask] = {}

    @classmethod
    def get(cls) -> TaskScheduler:
        cls._one = cls._one or cls()
        return cls._one

    def get_tasks_by_context_id(self, context_id: str, only_running: bool = False) -> list[AdHocTask]:
        return [
            task
            for task in self._tasks.values()
            if task.context_id == context_id and (not only_running or task.state is TaskState.RUNNING)
        ]

    def get_task_by_uuid(self, task_uuid: str) -> AdHocTask:
        return self._tasks[task_uuid]

    async def add_task(self, task: AdHocTask) -> None:
        self._tasks[task.uuid] = task

    async def reload(self) -> None:
        """Nothing is stored."""

    async def run_task_by_uuid(self, task_uuid: str) -> None:
        from agent import AgentContext, UserMessage

        task = self._tasks[task_uuid]
        agent = AgentContext.get(task.context_id).agent0
        task.state = TaskState.RUNNING
        agent.hist_add_user_message(UserMessage(f"## Task:\n{task.prompt}"))
        task.last_result = await agent.monologue()
        task.state = TaskState.IDLE

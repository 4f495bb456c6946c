"""Runs inside Agent Zero's environment, or the stand-in's: told over pipes what a user does.

A line of JSON in is one thing the user does, a line of JSON out is what came of it. What Agent Zero prints
goes to standard error. Nothing of it is replaced; the plugin's calls are timed.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPLIES = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
sys.path.insert(0, str(Path.cwd()))

importlib.import_module("helpers.runtime").initialize()
agent_zero: Any = importlib.import_module("agent")
initialize: Any = importlib.import_module("initialize")
scheduler: Any = importlib.import_module("helpers.task_scheduler")
plugin: Any = importlib.import_module("usr.plugins.honchod.helpers.daemon")

TURN_S = 120.0
HOLDS_UP = ("write", "recall")
"""The calls of the plugin that a chat waits for."""


class User:
    """What a user of Agent Zero does."""

    def __init__(self) -> None:
        self._held_s = 0.0
        for name in HOLDS_UP:
            setattr(plugin.Chat, name, self._timed(getattr(plugin.Chat, name)))

    def say(self, chat: str, text: str) -> dict[str, Any]:
        """A turn in a chat: ``{answer, held_ms}``."""
        self._held_s = 0.0
        task = self._chat(chat).communicate(agent_zero.UserMessage(text))
        answer = task.result_sync(timeout=TURN_S)
        return {"answer": answer, "held_ms": self._held_s * 1000}

    def reset(self, chat: str) -> dict[str, Any]:
        """Reset a chat."""
        self._chat(chat).reset()
        return {}

    def schedule(self, chat: str, prompt: str) -> dict[str, Any]:
        """The scheduler runs a task of this user in a chat: ``{answer}``."""
        return asyncio.run(self._scheduled(self._chat(chat).id, prompt))

    async def _scheduled(self, chat: str, prompt: str) -> dict[str, Any]:
        tasks = scheduler.TaskScheduler.get()
        task = scheduler.AdHocTask.create("task", "", prompt, token="1", context_id=chat)
        await tasks.add_task(task)
        await tasks.run_task_by_uuid(task.uuid)
        gives_up_at_s = time.monotonic() + TURN_S
        while time.monotonic() < gives_up_at_s:
            await tasks.reload()
            done = tasks.get_task_by_uuid(task.uuid)
            if done.last_result and done.state == scheduler.TaskState.IDLE:
                return {"answer": done.last_result}
            await asyncio.sleep(0.1)
        raise TimeoutError("the task did not end")

    def _chat(self, chat: str) -> Any:
        context = agent_zero.AgentContext.get(chat)
        return context or agent_zero.AgentContext(initialize.initialize_agent(), id=chat)

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def timed(*args: Any, **kwargs: Any) -> Any:
            began_s = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self._held_s += time.perf_counter() - began_s

        return timed


def main() -> None:
    """Do what each line says, until there are no more."""
    user = User()
    print("{}", file=REPLIES)
    for line in sys.stdin:
        details = json.loads(line)
        print(json.dumps(getattr(user, details.pop("does"))(**details)), file=REPLIES)


main()
os._exit(0)

"""The least that an agent is for a plugin: chats, messages, a loop with a model and tools, and their hooks.

Written after Agent Zero's own documentation of its plugins; it stands in where no Agent Zero is at hand.
"""

from __future__ import annotations

import asyncio
import json
import os
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from helpers.extension import call_extensions_async, extensible, first_subclass, plugin_files
from helpers.tool import Response, Tool


class AgentContextType(Enum):
    """Whose chat it is."""

    USER = "user"
    TASK = "task"
    BACKGROUND = "background"


@dataclass
class AgentConfig:
    """Nothing is configured."""

    profile: str = ""


@dataclass
class UserMessage:
    """What a user says."""

    message: str
    id: str = ""


class LoopData:
    """What extensions share during one monologue."""

    def __init__(self) -> None:
        self.iteration = -1
        self.extras_persistent: dict[str, str] = {}


class Task:
    """A turn that is over."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._future: Future[str] = Future()
        self._future.set_result(work())

    def result_sync(self, timeout: float | None = None) -> str:
        return self._future.result(timeout)


class AgentContext:
    """One chat."""

    _contexts: ClassVar[dict[str, AgentContext]] = {}

    def __init__(self, config: AgentConfig, id: str) -> None:  # noqa: A002 - Agent Zero's own name
        self.id = id
        self.config = config
        self.type = AgentContextType.USER
        self.data: dict[str, Any] = {}
        self.agent0 = Agent(0, config, self)
        self._contexts[id] = self

    @classmethod
    def get(cls, id: str) -> Any:  # noqa: A002 - Agent Zero's own name
        return cls._contexts.get(id)

    def get_data(self, key: str) -> Any:
        return self.data.get(key)

    def set_data(self, key: str, value: Any) -> None:
        self.data[key] = value

    @extensible
    def reset(self) -> None:
        self.agent0 = Agent(0, self.config, self)

    def communicate(self, message: UserMessage) -> Task:
        self.agent0.hist_add_user_message(message)
        return Task(lambda: asyncio.run(self.agent0.monologue()))


class Agent:
    """One agent of a chat; number 0 is the one that the user talks to."""

    def __init__(self, number: int, config: AgentConfig, context: AgentContext) -> None:
        self.number = number
        self.config = config
        self.context = context
        self.data: dict[str, Any] = {}
        self.history: list[dict[str, str]] = []

    def get_data(self, field: str) -> Any:
        return self.data.get(field)

    def set_data(self, field: str, value: Any) -> None:
        self.data[field] = value

    @extensible
    def hist_add_user_message(self, message: UserMessage, intervention: bool = False) -> None:
        self.history.append({"role": "user", "content": json.dumps({"user_message": message.message})})

    @extensible
    async def monologue(self) -> str:
        loop_data = LoopData()
        while True:
            loop_data.iteration += 1
            await call_extensions_async("message_loop_prompts_after", self, loop_data=loop_data)
            request = await asyncio.to_thread(self._ask_model, loop_data)
            response = await self._use_tool(request["tool_name"], request["tool_args"])
            if response.break_loop:
                return response.message
            result = {"tool_name": request["tool_name"], "tool_result": response.message}
            self.history.append({"role": "user", "content": json.dumps(result)})

    def _ask_model(self, loop_data: LoopData) -> dict[str, Any]:
        system = "\n\n".join(file.read_text() for file in plugin_files("prompts", "agent.system.tool.*.md"))
        extras = {"role": "user", "content": f"[EXTRAS]\n{json.dumps(loop_data.extras_persistent)}"}
        body = {"model": "", "messages": [{"role": "system", "content": system}, *self.history, extras]}
        asked = urllib.request.Request(
            f"{os.environ['MODEL_URL']}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked) as answer:
            said = str(json.loads(answer.read())["choices"][0]["message"]["content"])
        self.history.append({"role": "assistant", "content": said})
        return dict(json.loads(said))

    async def _use_tool(self, name: str, args: dict[str, Any]) -> Response:
        if name == "response":
            return Response(args["text"], break_loop=True)
        if name == "call_subordinate":
            subordinate = Agent(self.number + 1, self.config, self.context)
            subordinate.hist_add_user_message(UserMessage(args["message"]))
            return Response(await subordinate.monologue(), break_loop=False)
        kind = first_subclass(plugin_files("tools", f"{name}.py")[0], Tool)
        response = await kind(self, name, args).execute(**args)
        return Response(response.message, response.break_loop)

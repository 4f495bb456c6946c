"""The base of a tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Response:
    """What a tool gives back; ``break_loop`` makes it the final answer."""

    message: str
    break_loop: bool


class Tool:
    """A tool as the agent makes it for one call."""

    def __init__(self, agent: Any, name: str, args: dict[str, Any]) -> None:
        self.agent = agent
        self.name = name
        self.args = args

    async def execute(self, **kwargs: Any) -> Response:
        raise NotImplementedError

"""The tool by which the model looks further, remembers for good, and forgets."""

from __future__ import annotations

import asyncio
from typing import Any

from helpers.tool import Response, Tool
from usr.plugins.honchod.helpers.daemon import chat_of

from honchod.client import ClientError


class HonchoMemory(Tool):
    """``honcho_memory``, as its prompt describes it."""

    async def execute(self, **arguments: Any) -> Response:
        """Ask the daemon."""
        given = {name: value for name, value in arguments.items() if value not in ("", None)}
        try:
            text = await asyncio.to_thread(chat_of(self.agent.context).use_tool, given)
        except ClientError as error:
            text = f"Error: {error}"
        return Response(message=text, break_loop=False)

"""Run by nanobot's own Python: talk to its agent loop, and tell how long the plugin held up each turn.

``python blocked.py CONFIG TURNS`` writes a JSON list of milliseconds, one a turn, to standard output.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from honchod_nanobot.plugin import HonchoMemory
from nanobot import Nanobot

held_ms: list[float] = []


def timed(step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """The step, with its time added to that of the turn."""

    async def run(*arguments: Any) -> Any:
        began_s = time.perf_counter()
        try:
            return await step(*arguments)
        finally:
            held_ms[-1] += (time.perf_counter() - began_s) * 1000

    return run


async def talk(config: str, turns: int) -> None:
    """So many turns with one agent loop."""
    HonchoMemory.recall_for = timed(HonchoMemory.recall_for)  # type: ignore[method-assign]
    HonchoMemory.hand_over = timed(HonchoMemory.hand_over)  # type: ignore[method-assign]
    async with Nanobot.from_config(config) as bot:
        for number in range(turns):
            held_ms.append(0.0)
            await bot.run(f"This is turn {number}.", session_key="cli:blocked")


asyncio.run(talk(sys.argv[1], int(sys.argv[2])))
json.dump(held_ms, sys.stdout)

"""Runs inside Hermes's environment: its own command line's core, told over pipes what its user does.

A line of JSON in is one thing the user does, a line of JSON out is what came of it. What Hermes prints goes
to standard error. Nothing of Hermes is replaced; its memory manager's calls are timed.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

REPLIES = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

from agent.memory_manager import MemoryManager  # noqa: E402 - standard output is Hermes's only from here on
from cli import HermesCLI  # noqa: E402
from cron.scheduler import run_job  # noqa: E402
from hermes_cli.config import load_config  # noqa: E402
from plugins.memory import load_memory_provider  # noqa: E402
from run_agent import AIAgent  # noqa: E402
from tools.async_delegation import active_count  # noqa: E402

IN_THE_TURN = ("on_turn_start", "prefetch_all", "sync_all", "queue_prefetch_all", "on_delegation")
"""The calls of the memory manager that a turn waits for."""


class Waiting:
    """How long turns waited for memory."""

    def __init__(self) -> None:
        self._s = 0.0
        for name in IN_THE_TURN:
            setattr(MemoryManager, name, self._timed(getattr(MemoryManager, name)))

    def take_ms(self) -> float:
        """Milliseconds since the last time."""
        taken, self._s = self._s, 0.0
        return taken * 1000

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def timed(*args: Any, **kwargs: Any) -> Any:
            began_s = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self._s += time.perf_counter() - began_s

        return timed


class User:
    """What a user of Hermes does."""

    def __init__(self) -> None:
        self._cli = HermesCLI(toolsets=["memory", "delegation"], compact=True)
        self._waiting = Waiting()

    def say(self, text: str) -> dict[str, Any]:
        """A turn."""
        self._waiting.take_ms()
        answer = self._cli.chat(text)
        return {"answer": answer, "waited_ms": self._waiting.take_ms(), "run": self._cli.session_id}

    def command(self, text: str) -> dict[str, Any]:
        """A slash command."""
        self._cli.process_command(text)
        return {}

    def cron(self, prompt: str) -> dict[str, Any]:
        """The scheduler runs a job of this user."""
        done, _, answer, error = run_job({"id": "job", "name": "job", "prompt": prompt, "schedule": {}})
        return {"done": done, "answer": answer, "error": error}

    def chat(self, text: str, who: str, kind: str, chat: str) -> dict[str, Any]:
        """A turn of somebody on a platform, as Hermes's gateway has it: an agent for the chat."""
        model = load_config()["model"]
        agent = AIAgent(
            **{name: model[name] for name in ("base_url", "api_key", "provider")},
            model=model["default"],
            platform="telegram",
            user_id=who,
            chat_type=kind,
            gateway_session_key=chat,
            enabled_toolsets=["memory"],
            quiet_mode=True,
        )
        answer = agent.run_conversation(text)["final_response"]
        agent.shutdown_memory_provider()
        agent.close()
        return {"answer": answer}

    def work(self, context: str) -> dict[str, Any]:
        """A turn of an agent that talks to nobody; Hermes's memory manager as it would be given one."""
        manager = MemoryManager()
        manager.add_provider(load_memory_provider(load_config()["memory"]["provider"]))
        manager.initialize_all(f"{context}-1", platform="cli", agent_context=context)
        manager.sync_all("Do it.", "Done.", session_id=f"{context}-1")
        manager.on_memory_write("add", "user", "Is a machine.")
        manager.on_delegation("Do it.", "Done.")
        had = {
            "tools": manager.get_all_tool_schemas(),
            "block": manager.build_system_prompt(),
            "memory": manager.prefetch_all("Where do I live?"),
        }
        manager.shutdown_all()
        return had

    def settle(self) -> dict[str, Any]:
        """Wait until what Hermes does behind its turns is done."""
        return {"settled": self._cli.agent._memory_manager.flush_pending(timeout=60)}

    def idle(self) -> dict[str, Any]:
        """Leave Hermes alone until its subagents are done and it has dealt with what they report."""
        deadline_s = time.monotonic() + 60
        while active_count() and time.monotonic() < deadline_s:
            time.sleep(0.02)
        self._cli._drain_process_notifications("cli-idle")
        answers = []
        while not self._cli._pending_input.empty():
            answers.append(self._cli.chat(self._cli._pending_input.get()))
        return {"answers": answers}

    def leave(self) -> dict[str, Any]:
        """The end of the command line."""
        self._cli.agent.shutdown_memory_provider(self._cli.conversation_history)
        return {}


def main() -> None:
    """Do what the lines say until there are no more."""
    user = User()
    print(json.dumps({"ready": True}), file=REPLIES)
    for line in sys.stdin:
        does = json.loads(line)
        print(json.dumps(getattr(user, does.pop("does"))(**does)), file=REPLIES)


main()

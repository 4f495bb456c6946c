"""Memory for Hermes through honchod, the memory daemon of this machine.

Everything is handed to the daemon, or to its drop box while it is away: it keeps, redacts, names, delivers
and recalls. What this raises, Hermes logs and survives.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.memory_provider import MemoryProvider
from hermes_cli.profiles import get_active_profile_name

from honchod.client import Client, ClientError

log = logging.getLogger(__name__)

FAMILY = "hermes"
"""Whose names the memory tools have."""

RECALL_TIMEOUT_S = 1.0
"""A daemon that takes longer than this for what it has in memory is not waited for."""

UNNAMED_PROFILES = frozenset({"", "default", "custom"})
"""Profiles that Hermes makes up; those that a user makes have a host of their own."""

DIRECT_CHATS = frozenset({"", "dm"})
"""The kinds of chat that only one person is in."""

FENCE = ("<memory-context>\n", "\n</memory-context>")
"""Hermes puts a fence of its own around recalled text and throws away what is in another."""


class HonchodProvider(MemoryProvider):  # type: ignore[misc]
    """One agent's memory, in the session that its run, chat or directory belongs to."""

    def __init__(self) -> None:
        self._client = Client(drop=True)
        self._host = host_name(get_active_profile_name(), os.environ)
        self._active = True
        self._run_id = ""
        self._continued: dict[str, str] = {}
        self._where: dict[str, str] = {}
        self._speaker: dict[str, str] = {}
        self._group = False
        self._start_over_due = False

    @property
    def name(self) -> str:
        """What `memory.provider` in Hermes's configuration says."""
        return "honchod"

    def is_available(self) -> bool:
        """Always: where no daemon runs, the drop box keeps what is said until one does."""
        return True

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Take over who speaks where, and have memory warmed up behind the first turn.

        Only the agent that talks to people has memory: cron turns, subagents and flushes have none.
        """
        self._active = (
            kwargs.get("agent_context", "primary") == "primary" and kwargs.get("platform") != "cron"
        )
        self._run_id = session_id
        self._where = {"cwd": os.getcwd()}  # noqa: PTH109 - Hermes asks for it at every start
        if chat := kwargs.get("gateway_session_key"):
            self._where["platform_key"] = chat
        names = {"runtime_user": kwargs.get("user_id"), "runtime_user_alt": kwargs.get("user_id_alt")}
        self._speaker = {field: value for field, value in names.items() if value}
        kind = kwargs.get("chat_type") or ""
        if kind == "webhook":
            self._speaker["author"] = "automation"
        self._group = kind not in DIRECT_CHATS
        if self._active:
            self._client.start_session(host=self._host, locator=self._locator())

    def system_prompt_block(self) -> str:
        """The daemon's static block: that memory is on, and what the user can type."""
        return str(self._client.prompt(host=self._host)["text"]) if self._active else ""

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """What is remembered for this turn, from the daemon's memory; never waits for the network."""
        if not self._active:
            return ""
        recalled = self._client.recall(
            query, host=self._host, locator=self._locator(session_id), timeout_s=RECALL_TIMEOUT_S
        )
        return recalled.text.removeprefix(FENCE[0]).removesuffix(FENCE[1])

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Nothing to do: the end of the turn, which `sync_turn` tells, starts it in the daemon."""

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        """Hand a turn over; it is on disk when this returns. Hermes calls it behind the turn."""
        if not self._active:
            return
        self._start_over_if_due()
        self._client.write(
            [
                {"role": "user", "content": user_content, **self._speaker},
                {"role": "assistant", "content": assistant_content},
            ],
            host=self._host,
            locator=self._locator(session_id),
            group=self._group,
            turn_end=True,
        )

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The daemon's memory tools; none where the host's recall mode hides them."""
        if not self._active:
            return []
        listed: list[dict[str, Any]] = []
        with surviving("there are no memory tools in this run"):
            listed = self._client.tools(host=self._host, family=FAMILY)["tools"]
        return [dict(tool["function"]) for tool in listed]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run a memory tool; its answer, or what was wrong, as JSON for the model."""
        try:
            answer = self._client.tool(tool_name, args, host=self._host, locator=self._locator())
        except ClientError as error:
            return json.dumps({"error": str(error)})
        return json.dumps({"result": answer["text"]}, ensure_ascii=False)

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        reason: str = "",
        **kwargs: Any,
    ) -> None:
        """Follow Hermes into another run. ``/new`` starts the memory session over; a compression does not."""
        if reason == "compression":
            self._continued[new_session_id] = self._continued.get(parent_session_id, parent_session_id)
        self._run_id = new_session_id
        if reset and self._active:
            self._start_over_due = True
            self._start_over_if_due()

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        """What waits in the session is due now."""
        if self._active:
            self._client.end_session(host=self._host, locator=self._locator())

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        """Hand over what a subagent found; the daemon skips it unless the host maps that author to a peer."""
        if not (self._active and result):
            return
        about = {"task": task, "child_session": child_session_id}
        with surviving("what a subagent found is not kept"):
            self._client.write(
                [{"role": "assistant", "author": "subagent", "content": result, "metadata": about}],
                host=self._host,
                locator=self._locator(),
                group=self._group,
            )

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """What Hermes notes in its user profile is remembered as a conclusion about the user."""
        if not (self._active and content and target == "user" and action in {"add", "replace"}):
            return
        with surviving("a note about the user is not remembered"):
            self._client.tool(
                "honcho_conclude", {"conclusion": content}, host=self._host, locator=self._locator()
            )

    def backup_paths(self) -> list[str]:
        """Where configuration stands outside Hermes's home. The queue is copied with ``honchod backup``."""
        named = os.environ.get("HONCHOD_HONCHO_CONFIG")
        config = Path(named) if named else Path.home() / ".honcho"
        return [str(config)]

    def shutdown(self) -> None:
        """Close the connections to the daemon; there is nothing to flush."""
        self._client.close()

    def _locator(self, session_id: str = "") -> dict[str, str]:
        """Where a run is. The daemon makes a session's name of it, by the host's strategy."""
        run_id = session_id or self._run_id
        return {**self._where, "run_id": self._continued.get(run_id, run_id)}

    def _start_over_if_due(self) -> None:
        """After ``/new``: a session that is not named after the run gets a new generation.

        While the daemon is away this stays due, and is done before the next turn that reaches it.
        """
        if not self._start_over_due:
            return
        with surviving("the session is not started over yet"):
            locator = self._locator()
            place = self._client.resolve_session(host=self._host, locator=locator)
            if place["source"] != "per-session":
                self._client.reset_session(host=self._host, locator=locator)
            self._start_over_due = False


def host_name(profile: str, environ: Mapping[str, str]) -> str:
    """The block of the Honcho config for a Hermes profile, by the rule of Hermes's own plugin."""
    named = environ.get("HERMES_HONCHO_HOST", "").strip()
    if named:
        return named
    return "hermes" if profile in UNNAMED_PROFILES else f"hermes_{profile}"


@contextmanager
def surviving(loss: str) -> Iterator[None]:
    """Log what the daemon's failure costs, where Hermes would not."""
    try:
        yield
    except ClientError as error:
        log.warning("honchod: %s: %s", loss, error)


def register(ctx: Any) -> None:
    """Hermes's entry point for plugins."""
    ctx.register_memory_provider(HonchodProvider())

"""What nanobot loads: one tool, which also puts memory into the prompt and hands over what was said."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import asdict, replace
from typing import Any

from loguru import logger
from nanobot.agent.tools.base import Tool, ToolResult
from nanobot.agent.tools.context import RequestContext, ToolContext, current_request_context
from nanobot.bus.runtime_events import RuntimeEventContext, SessionTurnPersisted
from nanobot.runtime_context import RuntimeContextBlock, RuntimeContextProvider
from nanobot.session.manager import SessionManager

from honchod.client import AsyncClient, ClientError, TooLarge, Unprocessable
from honchod_nanobot.transcript import Spoken, after, place_of, spoken, standing

STANDING = "honchod"
"""Where in nanobot's metadata of a session its standing is kept."""

ANSWER_S = 2.0
"""How long a turn waits for a daemon that is there and does not answer."""

WRITE_MESSAGES_MAX = 100
OWNER_CHANNELS = frozenset({"cli", "websocket", "api"})
"""Here the sender's id names a window, not a person: whoever speaks is the owner."""


class HonchoMemory(Tool):
    """Long-term memory through the daemon of this machine."""

    def __init__(self, sessions: SessionManager) -> None:
        self._sessions = sessions
        self._host = os.environ.get("HONCHOD_HOST", "nanobot")
        self._client = AsyncClient(timeout_s=ANSWER_S, drop=True)
        self._senders: defaultdict[str, dict[str, str]] = defaultdict(dict)

    @classmethod
    def enabled(cls, ctx: ToolContext) -> bool:
        """Only in an agent loop that has sessions."""
        return ctx.bus is not None and ctx.sessions is not None

    @classmethod
    def create(cls, ctx: ToolContext) -> HonchoMemory:
        """One for an agent loop; it listens to that loop's turns."""
        tool = cls(ctx.sessions)
        ctx.bus.subscribe(tool.hand_over, SessionTurnPersisted)
        return tool

    @property
    def name(self) -> str:
        """As the model calls it."""
        return "honcho_memory"

    @property
    def description(self) -> str:
        """What the model is told of it."""
        return (
            "Long-term memory of the user across all conversations. What is known already stands in the "
            "memory block of the prompt; use this to look further, to remember a fact for good, or to "
            "forget one. Do not remember what was merely said: conversations are kept by themselves."
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Its arguments."""
        return {
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["recall", "search", "ask", "remember", "forget", "status", "dream"],
                    "description": "recall and search need a query, ask a question in query, remember "
                    "the content, forget conclusion_id and confirm.",
                },
                "query": {"type": "string", "description": "What to look for, in plain language."},
                "content": {"type": "string", "description": "One fact that should last, in a sentence."},
                "conclusion_id": {"type": "string", "description": "The exact id of a conclusion."},
                "confirm": {"type": "boolean", "description": "With forget: the user has confirmed it."},
                "where": {"type": "string", "enum": ["conclusions", "session", "workspace"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20},
            },
            "required": ["action"],
        }

    async def execute(self, **arguments: Any) -> str:
        """Ask the daemon; its text is for the model."""
        request = current_request_context()
        session = self._conversation(request.session_key) if request and request.session_key else None
        try:
            answer = await self._client.tool(self.name, arguments, host=self._host, session=session)
        except ClientError as error:
            return ToolResult.error(f"Error: {error}")
        return str(answer["text"])

    def runtime_context_provider(self) -> RuntimeContextProvider:
        """Called with every message of a user before the model sees it."""
        return self.recall_for

    async def recall_for(self, request: RequestContext) -> RuntimeContextBlock | None:
        """Memory for the prompt of this message, as the daemon has it at hand."""
        key, text = request.session_key, request.original_user_text
        if not key or not text:
            return None
        if request.sender_id and request.channel not in OWNER_CHANNELS:
            self._senders[key][text] = request.sender_id
        session = self._conversation(key)
        try:
            recalled = await self._client.recall(text, session=session, host=self._host)
        except ClientError as error:
            logger.warning("honchod: no memory for this turn: {}", error)
            return None
        return RuntimeContextBlock(source="honchod", content=recalled.text) if recalled.text else None

    async def hand_over(self, event: SessionTurnPersisted) -> None:
        """A turn stands in nanobot's session file: the daemon gets what is new in it.

        What it does not get stays in the file, and goes with the next turn. A message that is handed over
        twice, after a crash, has the same id: the daemon keeps it once.
        """
        key = event.context.session_key
        session = self._sessions.get_or_create(key)
        stands = standing(session.metadata.get(STANDING), session.messages)
        said = spoken(after(session.messages, stands.place), key)
        try:
            await self._write(said, stands.session(key), event.context)
        except (TooLarge, Unprocessable) as error:
            logger.error("honchod: {} messages can never be kept: {}", len(said), error)
        except ClientError as error:
            logger.warning("honchod: this turn waits in nanobot's session: {}", error)
            return
        session.metadata[STANDING] = asdict(replace(stands, place=place_of(session.messages)))
        self._sessions.save(session)
        self._senders.pop(key, None)

    def _conversation(self, key: str) -> str:
        """The name of the conversation under this key; keeps where it stands."""
        session = self._sessions.get_or_create(key)
        stands = standing(session.metadata.get(STANDING), session.messages)
        session.metadata[STANDING] = asdict(stands)
        return stands.session(key)

    async def _write(self, said: list[Spoken], session: str, context: RuntimeEventContext) -> None:
        senders = self._senders.get(context.session_key, {})
        for at in range(0, len(said), WRITE_MESSAGES_MAX):
            messages = [_message(one, senders.get(one.content)) for one in said[at : at + WRITE_MESSAGES_MAX]]
            await self._client.write(
                messages,
                session=session,
                host=self._host,
                turn_end=True,
                group=bool(context.metadata.get("is_group")),
            )


def _message(said: Spoken, sender: str | None) -> dict[str, str]:
    message = asdict(said)
    if sender is not None and said.author == "human":
        message["runtime_user"], _, name = sender.partition("|")
        if name:
            message["runtime_user_alt"] = name
    return message

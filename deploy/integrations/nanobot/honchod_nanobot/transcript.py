"""A nanobot session as nanobot keeps it: what in it is new, who said it, and what nobody said. No I/O."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nanobot.runtime_context import public_history_message
from nanobot.session.automation_turns import AUTOMATION_HISTORY_META, is_automation_history_message
from nanobot.session.history_visibility import HIDDEN_HISTORY_META

START = ""
"""The place before the first message of a session."""

HEARTBEAT_SESSION = "heartbeat"
"""Where nanobot talks to itself about its own tasks."""

_INTERRUPTED = "_recovery_interrupted"
_COMMAND = "_command"
_INJECTED = "injected_event"
_MODEL_ERROR = "[Assistant reply unavailable due to model error.]"


@dataclass(frozen=True)
class Spoken:
    """One message of a session. ``id`` is the same whenever the same message is looked at."""

    id: str
    role: str
    author: str
    content: str
    created_at: str


@dataclass(frozen=True)
class Standing:
    """How far a session was handed over.

    ``conversation`` counts those of this session key from 1, ``place`` is after the last message handed over.
    """

    conversation: int
    place: str

    def session(self, key: str) -> str:
        """The name of the conversation: nanobot itself goes on under the same key after ``/new``."""
        return key if self.conversation == 1 else f"{key}#{self.conversation}"


def standing(kept: Mapping[str, Any] | None, messages: Sequence[Mapping[str, Any]]) -> Standing:
    """Where a session stands now, by what was kept of it.

    What was said before anything was kept stays untold. A place that is gone was wiped by ``/new``: the next
    conversation is at its start.
    """
    if kept is None:
        return Standing(1, place_of(messages))
    before = Standing(kept["conversation"], kept["place"])
    if before.place != START and all(_place(message) != before.place for message in messages):
        return Standing(before.conversation + 1, START)
    return before


def place_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """The place after the last message."""
    return _place(messages[-1]) if messages else START


def after(messages: Sequence[Mapping[str, Any]], place: str) -> Sequence[Mapping[str, Any]]:
    """What came after a place; everything when it is at the start."""
    for index in range(len(messages) - 1, -1, -1):
        if _place(messages[index]) == place:
            return messages[index + 1 :]
    return messages


def spoken(messages: Sequence[Mapping[str, Any]], session: str) -> list[Spoken]:
    """Those of the messages that somebody said, in order.

    Left out: commands and their answers, tool calls and results, text on the way to a tool call, what nanobot
    puts in for its own book-keeping. What a subagent reported or a timer ordered carries that author.
    """
    return [said for message in messages if (said := _spoken(message, session)) is not None]


def _spoken(message: Mapping[str, Any], session: str) -> Spoken | None:
    role = message.get("role")
    if role not in ("user", "assistant") or message.get("tool_calls") or message.get(_COMMAND):
        return None
    author = _author(message, role, session)
    content = _text(public_history_message(message).get("content"))
    if author is None or not content.strip() or content == _MODEL_ERROR:
        return None
    said_at = str(message.get("timestamp", ""))
    name = f"{said_at}-{role}-{zlib.crc32(content.encode('utf-8', 'surrogatepass')):08x}"
    return Spoken(name, role, author, content, _with_zone(said_at))


def _author(message: Mapping[str, Any], role: str, session: str) -> str | None:
    if message.get(_INTERRUPTED):
        return None
    if message.get(_INJECTED) == "subagent_result":
        return "subagent"
    if is_automation_history_message(message):
        details = message.get(AUTOMATION_HISTORY_META)
        kind = details.get("kind") if isinstance(details, Mapping) else None
        return "cron" if kind == "cron" else "automation"
    if message.get(HIDDEN_HISTORY_META):
        return None
    if session == HEARTBEAT_SESSION:
        return "automation"
    return "human" if role == "user" else "assistant"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n\n".join(texts)


def _place(message: Mapping[str, Any]) -> str:
    return f"{message.get('timestamp', '')} {message.get('role', '')}"


def _with_zone(said_at: str) -> str:
    """The time as nanobot writes it, local and without a zone, with its zone."""
    return datetime.fromisoformat(said_at).astimezone().isoformat()

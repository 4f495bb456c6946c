"""What an agent hands in and what it gets back: the wire types of ``POST /v1/messages``.

They are decoded by msgspec, strictly: a wrong type or an unknown field is refused before anything else
looks at the request.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from honchod.identity.requests import Id, Locator

Author = Literal["human", "assistant", "subagent", "cron", "automation", "skill", "tool", "import"]


class IncomingMessage(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """One message as the caller sends it. ``created_at`` is RFC 3339; absent means now."""

    content: str
    role: Literal["user", "assistant"] = "user"
    id: Id | None = None
    created_at: Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})] | None = None
    author: Author | None = None
    peer: Id | None = None
    runtime_user: Id | None = None
    runtime_user_alt: Id | None = None
    metadata: dict[str, Any] | None = None


class WriteRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """The body of ``POST /v1/messages``: all or nothing."""

    messages: Annotated[list[IncomingMessage], msgspec.Meta(extra_json_schema={"minItems": 1})]
    host: Id = "default"
    session: Id | None = None
    locator: Locator | None = None
    scope: Id | None = None
    turn_end: bool = False
    group: bool = False


class WriteItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one message: ``parts`` for queued and duplicate, ``reason`` for skipped."""

    id: str
    status: Literal["queued", "duplicate", "skipped"]
    parts: int | None = None
    reason: Literal["mode_local", "capture_off", "author", "empty", "noise"] | None = None


class WriteResult(msgspec.Struct, frozen=True):
    """The answer, sent after the fsync. ``session`` is the Honcho session id that was used."""

    session: str
    results: list[WriteItem]

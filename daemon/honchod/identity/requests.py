"""Who and where, as it stands on the wire: the fields that every call about a session shares.

Decoded by msgspec, strictly: a wrong type or an unknown field is refused before anything else looks at it.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=512)]
"""A caller's id or key: any string of 1 to 512 characters."""


class Locator(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """Where the caller is, for the daemon to name the session by the host's strategy."""

    cwd: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | None = None
    title: Id | None = None
    platform_key: Id | None = None
    run_id: Id | None = None


class SessionRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """The body of ``POST /v1/sessions/…``: the caller's own key of the session, or a locator."""

    host: Id = "default"
    session: Id | None = None
    locator: Locator | None = None
    scope: Id | None = None


class SessionPeers(msgspec.Struct, frozen=True):
    """The peers of a session; ``user`` is null where no ``peerName`` is configured."""

    user: str | None
    ai: str


class SessionModes(msgspec.Struct, frozen=True):
    """What of the session is kept where, how it is recalled, and when it is sent."""

    user: str
    agent: str
    recall: str
    save_messages: bool
    write_frequency: str | int


class SessionLocalFiles(msgspec.Struct, frozen=True):
    """Whether the agent should keep its local memory files up to date, for the user and for itself."""

    user: bool
    agent: bool


class ResolvedSession(msgspec.Struct, frozen=True):
    """What a request would become. ``source`` tells what named the session; no scope is the global view."""

    session: str
    source: str
    generation: int
    host: str
    workspace: str
    peers: SessionPeers
    modes: SessionModes
    scope: str | None
    local_files: SessionLocalFiles


class EndedSession(msgspec.Struct, frozen=True):
    """The session whose lane is due now, and how many of its events still wait."""

    session: str
    pending: int


class ResetSession(msgspec.Struct, frozen=True):
    """The session that comes after a reset, and its generation."""

    session: str
    generation: int


class PromptCommand(msgspec.Struct, frozen=True):
    """A management command as a user types it."""

    usage: str
    meaning: str


class PromptBlock(msgspec.Struct, frozen=True):
    """The static block of the system prompt. ``text`` is empty while the host is disabled."""

    text: str
    agent: str
    mode: str
    session: str | None
    commands: list[PromptCommand]

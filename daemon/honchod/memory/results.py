"""What each task answers, as it stands on the wire under ``result``."""

from __future__ import annotations

from typing import Literal

import msgspec


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a task."""


class CardResult(Result, frozen=True):
    """A peer's card; empty where none is known."""

    peer: str
    card: list[str]


class Item(Result, frozen=True):
    """Something that was found. ``pending``: Honcho does not have it yet, and ``id`` is the daemon's."""

    id: str
    content: str
    kind: Literal["conclusion", "message"]
    pending: bool
    peer: str
    session: str | None = None


class Items(Result, frozen=True, omit_defaults=False):
    """What was found, the best first. ``failure`` says why Honcho's own items are missing, if they are."""

    items: list[Item]
    truncated: bool
    failure: str | None = None


class Said(Result, frozen=True):
    """A message of the session."""

    peer: str
    content: str


class PackResult(Result, frozen=True, omit_defaults=False):
    """A session and a peer at once. A text is empty where nothing is known."""

    peer: str
    summary: str
    representation: str
    card: list[str]
    recent: list[Said]


class AskResult(Result, frozen=True, omit_defaults=False):
    """An answer of the dialectic, and the level it was made at."""

    answer: str
    level: str


class ConcludeResult(Result, frozen=True):
    """A conclusion that is on disk, under an id that forget takes; ``skipped``: nothing was stored."""

    status: Literal["queued", "duplicate", "skipped"]
    id: str | None = None
    reason: Literal["mode_local", "capture_off", "empty"] | None = None


class ForgetResult(Result, frozen=True, omit_defaults=False):
    """Where a conclusion was removed: rows that waited, cached answers that may hold it, at Honcho."""

    queued: int
    cache: int
    remote: int


class StatusResult(Result, frozen=True, omit_defaults=False):
    """How memory is for this host: nothing of what is in it."""

    host: str
    workspace: str
    session: str
    user_peer: str | None
    ai_peer: str
    recall_mode: str
    pending: int
    delivered: int
    dead: int
    reachable: bool


class DreamResult(Result, frozen=True, omit_defaults=False):
    """Honcho will think over what the observer knows of the peer."""

    peer: str
    status: Literal["scheduled"] = "scheduled"

"""Which side of a conversation is captured, and what the agent does with its own files."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from honchod.identity.choices import MemoryMode, WriteMoment
from honchod.identity.host import Host


class Side(StrEnum):
    """On whose side of the conversation a message stands."""

    USER = "user"
    AI = "ai"
    OTHER = "other"
    """An author that is neither a person nor the assistant, with a peer of its own."""


class SkipReason(StrEnum):
    """Why a message is not captured although nothing is wrong with it."""

    CAPTURE_OFF = "capture_off"
    """The host keeps nothing by itself (``saveMessages``, ``enabled``)."""
    MODE_LOCAL = "mode_local"
    """That side's memory is kept in local files only."""
    AUTHOR = "author"
    """Its author has no peer that it may land on."""


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Whether the agent should keep its local memory files up to date, for the user and for itself."""

    user: bool
    agent: bool


def captures(host: Host) -> bool:
    """Whether the host keeps anything by itself. An explicit remember works either way."""
    return host.enabled and host.modes.save_messages


def skip_reason(host: Host, side: Side) -> SkipReason | None:
    """Why a message of that side is skipped; None when it is captured.

    Mode ``local`` skips the messages of its own peer; those of another author only if both sides are local.
    """
    if not captures(host):
        return SkipReason.CAPTURE_OFF
    sides = {Side.USER: {host.modes.user}, Side.AI: {host.modes.agent}}
    if sides.get(side, {host.modes.user, host.modes.agent}) == {MemoryMode.LOCAL}:
        return SkipReason.MODE_LOCAL
    return None


def local_files(host: Host) -> LocalFiles:
    """Mode ``honcho`` turns a side's local files off, unless the host keeps nothing in Honcho anyway."""
    kept = captures(host)
    return LocalFiles(
        user=not (kept and host.modes.user is MemoryMode.HONCHO),
        agent=not (kept and host.modes.agent is MemoryMode.HONCHO),
    )


@dataclass(frozen=True, slots=True)
class Held:
    """Captured messages wait: for every nth turn to end, or (None) for the session to end."""

    every_turns: int | None


def held(host: Host) -> Held | None:
    """How the host's messages wait for their turn (``writeFrequency``); None: they are due at once."""
    match host.modes.write_frequency:
        case WriteMoment.ASYNC:
            return None
        case WriteMoment.TURN:
            return Held(every_turns=1)
        case WriteMoment.SESSION:
            return Held(every_turns=None)
        case turns:
            return Held(every_turns=turns)

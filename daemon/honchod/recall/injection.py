"""Whether a host wants anything injected, and which sections. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from honchod.identity.choices import InjectionFrequency, MemoryMode, RecallMode, Section
from honchod.identity.host import Host

AI_SECTIONS: Final = frozenset({Section.AI_REPRESENTATION, Section.AI_CARD})
USER_SECTIONS: Final = frozenset({Section.SUMMARY, Section.USER_REPRESENTATION, Section.USER_CARD})
BASE_SECTIONS: Final = AI_SECTIONS | USER_SECTIONS


class OffReason(StrEnum):
    """Why nothing is injected."""

    DISABLED = "disabled"
    """The host is switched off (``enabled``)."""
    MODE_LOCAL = "mode_local"
    """Both sides keep their memory in local files only."""
    RECALL_MODE = "recall_mode"
    """``recallMode`` is ``tools``: the agent asks by tools."""
    FIRST_TURN = "first_turn"
    """``injectionFrequency`` is ``first-turn``, and the first turn is over."""


class Injection(msgspec.Struct, frozen=True):
    """The sections that a recall may hold, or why there are none."""

    sections: frozenset[Section]
    off: OffReason | None = None


def injects(host: Host) -> OffReason | None:
    """Why the host never injects anything; None when it does."""
    if not host.enabled:
        return OffReason.DISABLED
    if host.modes.user is MemoryMode.LOCAL and host.modes.agent is MemoryMode.LOCAL:
        return OffReason.MODE_LOCAL
    return OffReason.RECALL_MODE if host.recall.mode is RecallMode.TOOLS else None


def injection(host: Host, wanted: Iterable[Section] | None, *, turns: int) -> Injection:
    """What to inject after so many turns: of the host's sections those that are ``wanted`` (None: all).

    With ``first-turn`` the base sections come in the first turn only; a dialectic answer comes all the same.
    """
    off = injects(host)
    if off is not None:
        return Injection(frozenset(), off)
    sections = host.recall.sections if wanted is None else host.recall.sections & frozenset(wanted)
    if turns > 0 and host.recall.injection_frequency is InjectionFrequency.FIRST_TURN:
        sections -= BASE_SECTIONS
        return Injection(sections, None if sections else OffReason.FIRST_TURN)
    return Injection(sections)

"""From a failed call to Honcho to what the agent is told: what failed, and if another try helps. Pure."""

from __future__ import annotations

from typing import Final

from honchod.delivery.outcome import Outcome, Verdict
from honchod.errors import CallReason, HonchoAway, HonchoRefused, Problem

RETRY_S: Final = 5.0
MODEL_RETRY_S: Final = 60.0
"""A model that is down seldom comes back at once."""

_FINAL: Final = {
    Outcome.REFUSED: "Honcho does not accept the key; trying again does not help until it is mended",
    Outcome.REJECTED: "Honcho rejects this request; trying it again does not help",
    Outcome.MISDIRECTED: "Honcho does not know this call or what it names; trying it again does not help",
}
_PASSING: Final = {
    Outcome.THROTTLED: "Honcho asks for a pause; try again later",
    Outcome.UNREACHABLE: "Honcho cannot be reached; try again later",
    Outcome.UNKNOWN: "Honcho failed at this; trying again later may help",
}
SHUT: Final = "Honcho was away a moment ago and is not asked now; try again later"
NOTHING_SAID: Final = "Honcho's model said nothing, so it is probably down; try again later"


def problem_of(verdict: Verdict, what: str) -> Problem:
    """The problem of a call that was to do ``what``. It never looks like an empty answer."""
    if verdict.outcome in _FINAL:
        return HonchoRefused(f"{what}: {_FINAL[verdict.outcome]} ({verdict.code})")
    if verdict.code == CallReason.EMPTY.value:
        return HonchoAway(f"{what}: {NOTHING_SAID}", retry_after_s=MODEL_RETRY_S)
    wait_s = verdict.retry_after_s
    detail = f"{what}: {_PASSING[verdict.outcome]} ({verdict.code})"
    return HonchoAway(detail, retry_after_s=RETRY_S if wait_s is None else wait_s)


def shut(what: str) -> Problem:
    """The problem of a call that was not made, for Honcho is known to be away."""
    return HonchoAway(f"{what}: {SHUT}", retry_after_s=RETRY_S)

"""What a recall looks at: whose view of whom, under which keys in the cache. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from honchod.delivery.routes import Route
from honchod.gateway.values import Sight
from honchod.identity.choices import Section
from honchod.identity.host import Host
from honchod.identity.place import Place
from honchod.outbox.cache import CacheKey
from honchod.outbox.values import LaneKey
from honchod.recall.injection import AI_SECTIONS, USER_SECTIONS

PACKED_TOKENS: Final = 8_000
"""What the server may pack into a context without a budget. Only its summary is used, not its messages."""
PACKED_FACTOR: Final = 4
PACKED_MIN_TOKENS: Final = 4_000
PACKED_MAX_TOKENS: Final = 100_000
"""Honcho's own bound."""


class Look(msgspec.Struct, frozen=True):
    """The answers of Honcho that a recall is made of; a key is None where that answer is not wanted.

    ``view`` holds the summary, representation and card of the user; ``own`` what the AI peer knows of
    itself, whatever the session; ``found`` what fits the query, which is there to ask for it.
    """

    view: CacheKey | None
    own: CacheKey | None
    found: CacheKey | None = None
    query: str | None = None

    @property
    def keys(self) -> tuple[CacheKey, ...]:
        """The wanted ones."""
        return tuple(key for key in (self.view, self.own, self.found) if key is not None)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it may leave the daemon, and the digest by which its answer is kept."""

    text: str
    digest: str


def lane_of(place: Place) -> LaneKey:
    """The session of a place, as the outbox names it."""
    return LaneKey(place.host.name, place.host.workspace, place.session)


def sight_of(host: Host, target: str | None, scope: str | None) -> Sight | None:
    """Whose knowledge of ``target`` is asked for; None where nobody is known.

    The AI peer's, if it observes others, else the person's own.
    """
    if target is None:
        return None
    observes = host.peers.observation.ai.observe_others and host.peers.ai != target
    return Sight(host.peers.ai if observes else target, target, scope)


def look_at(
    place: Place,
    route: Route,
    *,
    target: str | None,
    sections: frozenset[Section],
    tokens: int | None,
    asked: Asked | None,
) -> Look:
    """What to look at for these sections."""
    host = place.host
    sight = sight_of(host, target, place.scope)
    view = CacheKey(
        destination=route.destination,
        workspace=host.workspace,
        session=place.session,
        observer="" if sight is None else sight.observer,
        target=target or "",
        scope=place.scope or "",
        tokens=tokens or 0,
        query="",
    )
    own = CacheKey(route.destination, host.workspace, "", host.peers.ai, host.peers.ai, "", 0, "")
    found = None
    if asked is not None and sight is not None and Section.USER_REPRESENTATION in sections:
        found = CacheKey(
            route.destination,
            host.workspace,
            place.session,
            sight.observer,
            sight.target,
            place.scope or "",
            0,
            asked.digest,
        )
    return Look(
        view=view if USER_SECTIONS & sections else None,
        own=own if AI_SECTIONS & sections and host.peers.observation.ai.observe_me else None,
        found=found,
        query=None if found is None or asked is None else asked.text,
    )


def sight_in(key: CacheKey) -> Sight | None:
    """The sight that a key stands for."""
    return Sight(key.observer, key.target, key.scope or None) if key.target else None


def packed_tokens(tokens: int) -> int:
    """How much the server may pack into a context for a budget of so many tokens (0: none).

    Honcho gives the summary a share of what is left beside the representation, so there must be more than
    the budget, or there would never be a summary.
    """
    if tokens == 0:
        return PACKED_TOKENS
    return min(PACKED_MAX_TOKENS, max(PACKED_MIN_TOKENS, PACKED_FACTOR * tokens))

"""From a host's name to its way to Honcho: what the configuration says, keyed for circuits and gateways."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from honchod.gateway.values import Endpoint, Member
from honchod.identity.host import Destination, Host, Observation
from honchod.outbox.values import LeasedEvent

OBSERVERS_MAX = 10
"""Honcho's bound on peers with ``observe_others`` in one session; one more and it refuses the session."""


@dataclass(frozen=True, slots=True)
class Route:
    """One host's way to Honcho. ``destination`` names URL and key without giving either away."""

    host: str
    workspace: str
    url: str
    destination: str
    target: Destination
    key_source: str
    ai_peer: str
    observation: Observation

    def endpoint(self, workspace: str) -> Endpoint:
        """Where to send what was captured for this workspace."""
        key = self.target.key
        return Endpoint(self.target.url, workspace, None if key is None else key.reveal())


def routes(hosts: Mapping[str, Host], salt: bytes) -> dict[str, Route]:
    """The routes of all enabled hosts. ``salt`` belongs to the database: no name is known elsewhere."""
    return {
        name: Route(
            host=name,
            workspace=host.workspace,
            url=host.destination.url,
            destination=_name(host.destination, salt),
            target=host.destination,
            key_source=host.key_source.value,
            ai_peer=host.peers.ai,
            observation=host.peers.observation,
        )
        for name, host in hosts.items()
        if host.enabled
    }


def _name(target: Destination, salt: bytes) -> str:
    key = "" if target.key is None else target.key.reveal()
    return hmac.new(salt, f"{target.url}\0{key}".encode(), hashlib.sha256).hexdigest()[:16]


def members(route: Route, batch: Iterable[LeasedEvent], joined: tuple[str, ...]) -> tuple[Member, ...]:
    """Who must be in the session before this batch: those who are in it, those who speak, and the AI peer.

    The AI peer listens from the first message on, so that it can learn from it. In the order of joining;
    past Honcho's bound on observers, later ones only are observed.
    """
    speakers = {event.peer: event.role for event in batch}
    ordered = list(dict.fromkeys((*joined, route.ai_peer, *sorted(speakers))))
    if route.ai_peer not in speakers and route.ai_peer not in joined and "assistant" in speakers.values():
        ordered.remove(route.ai_peer)
    chosen: list[Member] = []
    observers = 0
    for peer in ordered:
        is_ai = peer == route.ai_peer or speakers.get(peer) == "assistant"
        flags = route.observation.ai if is_ai else route.observation.user
        observes = flags.observe_others and observers < OBSERVERS_MAX
        observers += observes
        chosen.append(Member(peer, flags.observe_me, observes))
    return tuple(chosen)

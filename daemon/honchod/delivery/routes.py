"""From a host's name to its way to Honcho: what the configuration says, keyed for circuits and gateways."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from honchod.gateway.values import Endpoint, Member
from honchod.identity.host import Destination, Host
from honchod.identity.peers import flags_for
from honchod.outbox.values import Kind, LeasedEvent

OBSERVERS_MAX = 10
"""Honcho's bound on peers with ``observe_others`` in one session; one more and it refuses the session."""


@dataclass(frozen=True, slots=True)
class Route:
    """One host's way to Honcho. ``destination`` names URL and key without giving either away."""

    host: Host
    destination: str

    @property
    def url(self) -> str:
        """The base URL."""
        return self.host.destination.url

    def endpoint(self, workspace: str) -> Endpoint:
        """Where to send what was captured for this workspace."""
        key = self.host.destination.key
        return Endpoint(self.url, workspace, None if key is None else key.reveal())


def routes(hosts: Mapping[str, Host], salt: bytes) -> dict[str, Route]:
    """The routes of all enabled hosts. ``salt`` belongs to the database: no name is known elsewhere."""
    return {name: Route(host, _name(host.destination, salt)) for name, host in hosts.items() if host.enabled}


def _name(target: Destination, salt: bytes) -> str:
    key = "" if target.key is None else target.key.reveal()
    return hmac.new(salt, f"{target.url}\0{key}".encode(), hashlib.sha256).hexdigest()[:16]


def speaking(batch: Iterable[LeasedEvent]) -> Iterable[LeasedEvent]:
    """The events whose peer speaks in the session: a conclusion is about a peer, who need not be there."""
    return (event for event in batch if event.kind is not Kind.CONCLUSION)


def members(host: Host, batch: Iterable[LeasedEvent], joined: tuple[str, ...]) -> tuple[Member, ...]:
    """Who must be in the session before this batch: those who are in it, those who speak, and the AI peer.

    The AI peer listens from the first message on, so that it can learn from it; unless another peer speaks
    for the assistant. In the order of joining; past Honcho's bound on observers, later ones are observed
    only.
    """
    speakers = {event.peer: event.role for event in speaking(batch)}
    listening = () if "assistant" in speakers.values() else (host.peers.ai,)
    chosen: list[Member] = []
    observers = 0
    for peer in dict.fromkeys((*joined, *listening, *sorted(speakers))):
        assistant = speakers.get(peer) == "assistant"
        flags = host.peers.observation.ai if assistant else flags_for(host, peer)
        observes = flags.observe_others and observers < OBSERVERS_MAX
        observers += observes
        chosen.append(Member(peer, flags.observe_me, observes))
    return tuple(chosen)

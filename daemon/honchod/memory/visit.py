"""One call of a tool: where it belongs, who makes it, whom it is about."""

from __future__ import annotations

from dataclasses import dataclass

from honchod.delivery.routes import Route
from honchod.errors import HonchoRefused, NoIdentity
from honchod.gateway.values import Sight
from honchod.identity.host import Host
from honchod.identity.names import clean
from honchod.identity.place import Place
from honchod.recall.look import sight_of


@dataclass(frozen=True, slots=True)
class Visit:
    """``route`` is None where the host is switched off; ``person`` is whom the session is about, if known;
    ``scoped`` says that the caller has named the scope.
    """

    place: Place
    route: Route | None
    person: str | None
    uid: int
    operator: bool
    scoped: bool = False

    @property
    def host(self) -> Host:
        """The host of the place."""
        return self.place.host

    @property
    def way(self) -> Route:
        """The way to Honcho. Raises HonchoRefused where the host is switched off."""
        if self.route is None:
            raise HonchoRefused(f"the host {self.host.name} is switched off (enabled)")
        return self.route

    def target(self, peer: str) -> str:
        """The peer that ``user``, ``ai`` or an id names. Raises NoIdentity where there is no user."""
        if peer == "ai":
            return self.host.peers.ai
        if peer != "user":
            return clean(peer)
        if self.person is None:
            raise NoIdentity("nobody is known as the user: set peerName, or name the peer")
        return self.person

    def sight(self, peer: str) -> Sight:
        """Whose knowledge of that peer is asked for. Raises NoIdentity."""
        sight = sight_of(self.host, self.target(peer), self.place.scope)
        assert sight is not None
        return sight

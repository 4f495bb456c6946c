"""Who can be recalled for, and by which way: hosts and routes as the configuration has them now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from honchod.delivery.routes import Route
from honchod.identity.host import Hosts
from honchod.identity.place import Asks, Place, Places


class Addressed(Asks, Protocol):
    """What of a request says where it belongs, its host included."""

    @property
    def host(self) -> str: ...  # noqa: D102


class Directory:
    """Hosts, routes and places. `use` replaces the first two."""

    def __init__(self, places: Places, hosts: Hosts, routes: Mapping[str, Route]) -> None:
        self._places = places
        self.use(hosts, routes)

    def use(self, hosts: Hosts, routes: Mapping[str, Route]) -> None:
        """Work with these from now on."""
        self._hosts = hosts
        self._routes = dict(routes)

    def place(self, request: Addressed) -> Place:
        """Where a request belongs. Raises UnknownHost, BadRequest and RedactionFailed."""
        return self._places.of(self._hosts.named(request.host), request)

    def is_current(self, place: Place) -> bool:
        """Whether a place is still that of its request: its session was not reset."""
        return self._places.is_current(place)

    def route(self, host: str) -> Route | None:
        """The way of a host; None for one that is switched off or gone."""
        return self._routes.get(host)

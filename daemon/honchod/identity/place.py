"""Where a request belongs: host, session, generation and scope, for everyone who is asked about one.

A session has generations: a reset starts the next one, under an id of its own. Which one is current is kept
by whoever holds the database; here it is a number by the name of the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

import msgspec

from honchod.identity.git import git_top
from honchod.identity.host import Host
from honchod.identity.names import SessionName, clean
from honchod.identity.scopes import scope_id
from honchod.identity.sessions import Locator, SessionSource, session_key

Hide = Callable[[str], str]
"""Gives a name without the secrets in it. The same name always gives the same."""


_REMEMBERED: Final = 1024


class Asks(Protocol):
    """What of a request says where it belongs."""

    @property
    def session(self) -> str | None: ...  # noqa: D102
    @property
    def locator(self) -> Locator | None: ...  # noqa: D102
    @property
    def scope(self) -> str | None: ...  # noqa: D102


class Place(msgspec.Struct, frozen=True):
    """Where a request belongs. ``session`` is the Honcho session id, ``scope`` None: the global view."""

    host: Host
    name: SessionName
    session: str
    generation: int
    source: SessionSource
    scope: str | None


class Places:
    """Finds the place of a request. Keeps the generations that were ever reset; the rest are at 0."""

    def __init__(self, generations: Mapping[SessionName, int], hide: Hide) -> None:
        self._generations = dict(generations)
        self._hide = hide
        self._known: dict[tuple[str, str], Place] = {}
        """Places of requests that name their session and nothing else, by host and session."""

    def use(self, hide: Hide) -> None:
        """Hide secrets in names this way from now on."""
        self._hide = hide
        self._known.clear()

    def of(self, host: Host, asked: Asks) -> Place:
        """The place of a request to this host. Raises BadRequest when it says too little."""
        session = asked.session
        if not session or asked.scope or asked.locator is not None:
            return self._found(host, asked)
        asked_for = host.name, session
        known = self._known.get(asked_for)
        if known is None or known.host is not host:
            known = self._known[asked_for] = self._found(host, asked)
            if len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]
        return known

    def _found(self, host: Host, asked: Asks) -> Place:
        key = session_key(host, asked.session, asked.locator, git_top, hide=self._hide)
        name = SessionName(host.name, host.workspace, clean(key.key))
        generation = self._generations.get(name, 0)
        return Place(
            host=host,
            name=name,
            session=name.id_of(generation),
            generation=generation,
            source=key.source,
            scope=scope_id(host, asked.scope, asked.locator, git_top, hide=self._hide),
        )

    def is_current(self, place: Place) -> bool:
        """Whether the session was not reset since."""
        return self._generations.get(place.name, 0) == place.generation

    def advance(self, name: SessionName, generation: int) -> None:
        """The session was reset: this is its generation now. An older one than is known changes nothing."""
        self._generations[name] = max(generation, self._generations.get(name, 0))
        self._known.clear()

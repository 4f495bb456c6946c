"""What an agent asks about its sessions: what one would become, and that it ends or starts anew."""

from __future__ import annotations

from collections.abc import Callable

from honchod.identity import modes, prompt
from honchod.identity.host import Hosts
from honchod.identity.place import Place, Places
from honchod.identity.requests import (
    EndedSession,
    PromptBlock,
    PromptCommand,
    ResetSession,
    ResolvedSession,
    SessionLocalFiles,
    SessionModes,
    SessionPeers,
    SessionRequest,
)
from honchod.outbox.store import Outbox
from honchod.outbox.values import LaneKey


class SessionDesk:
    """Answers about sessions. `use` replaces the hosts for the requests that come after it."""

    def __init__(self, outbox: Outbox, hosts: Hosts, places: Places) -> None:
        self._outbox = outbox
        self._hosts = hosts
        self._places = places
        self.on_due: Callable[[], None] = lambda: None
        """Called after each request that may have made something due."""

    def use(self, hosts: Hosts) -> None:
        """Work with these from now on."""
        self._hosts = hosts

    def place(self, request: SessionRequest) -> Place:
        """Where the request belongs. Raises `UnknownHost` and `BadRequest`."""
        return self._places.of(self._hosts.named(request.host), request)

    def resolve(self, request: SessionRequest) -> ResolvedSession:
        """What a message of this request would become; nothing is made or changed."""
        return resolved(self.place(request))

    def prompt(self, host_name: str, session: str | None) -> PromptBlock:
        """The block of the system prompt for a host, and for a session by the caller's key."""
        host = self._hosts.named(host_name)
        place = self._places.of(host, SessionRequest(session=session)) if session else None
        session_id = place.session if place else None
        return PromptBlock(
            text=prompt.block(host, session_id),
            agent=host.peers.ai,
            mode=host.recall.mode.value,
            session=session_id,
            commands=[PromptCommand(*command) for command in prompt.commands(host)],
        )

    async def end(self, request: SessionRequest) -> EndedSession:
        """The session is over: what waits in it is due now."""
        place = self.place(request)
        pending = await self._outbox.end_session(lane_of(place))
        self.on_due()
        return EndedSession(place.session, pending)

    async def reset(self, request: SessionRequest) -> ResetSession:
        """The session starts anew, under another id; what was queued stays with the old one, and is due."""
        name = self.place(request).name
        generation = await self._outbox.reset_session(name)
        self._places.advance(name, generation)
        self.on_due()
        return ResetSession(name.id_of(generation), generation)


def lane_of(place: Place) -> LaneKey:
    """The lane of a place."""
    return LaneKey(place.name.host, place.name.workspace, place.session)


def resolved(place: Place) -> ResolvedSession:
    """A place as an agent is told about it."""
    host = place.host
    files = modes.local_files(host)
    return ResolvedSession(
        session=place.session,
        source=place.source.value,
        generation=place.generation,
        host=host.name,
        workspace=host.workspace,
        peers=SessionPeers(user=host.peers.user, ai=host.peers.ai),
        modes=SessionModes(
            user=host.modes.user.value,
            agent=host.modes.agent.value,
            recall=host.recall.mode.value,
            save_messages=modes.captures(host),
            write_frequency=host.modes.write_frequency,
        ),
        scope=place.scope,
        local_files=SessionLocalFiles(user=files.user, agent=files.agent),
    )

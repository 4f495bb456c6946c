"""Whose message it is: the Honcho peer that a message lands on.

Two things must never happen: that somebody else's words become the user's own (a stranger's in a group, a
bot's, a cron job's), and that a peer is made up for a message that nobody is known for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from honchod.errors import NoIdentity
from honchod.identity.choices import Author
from honchod.identity.host import Host, PeerFlags
from honchod.identity.modes import Side, SkipReason, skip_reason
from honchod.identity.names import apart, clean

UNKNOWN_PEER: Final = "unknown"
"""The peer of a sender in a group whom the platform does not name."""

_UNMODELLED: Final = PeerFlags(observe_me=False, observe_others=False)


class Message(Protocol):
    """What of a message says whose it is. The author defaults by the role."""

    @property
    def role(self) -> str: ...  # noqa: D102
    @property
    def author(self) -> str | None: ...  # noqa: D102
    @property
    def peer(self) -> str | None: ...  # noqa: D102
    @property
    def runtime_user(self) -> str | None: ...  # noqa: D102
    @property
    def runtime_user_alt(self) -> str | None: ...  # noqa: D102


class PeerChoice(msgspec.Struct, frozen=True):
    """The peer a message lands on, its side, and its author as settled."""

    peer: str
    side: Side
    author: Author


@dataclass(frozen=True, slots=True)
class Skip:
    """The message is not captured, for this reason."""

    reason: SkipReason


def resolve_peer(host: Host, message: Message, *, group: bool) -> PeerChoice | Skip:
    """The message's peer, or why it is skipped. ``group``: several people speak in this session.

    A person's message goes to the peer it names, else to the user peer: pin, alias of the runtime id, alias
    of the alternate id, prefix and runtime id, ``peerName``; in a group without a runtime id to ``unknown``.
    The assistant's goes to the peer it names, else to the host's AI peer. Any other author needs a peer in
    ``authorPeers``. What is not a person's is skipped rather than put on a person's peer.

    Raises NoIdentity for a person's message with nobody to put it on.
    """
    author = Author(message.author) if message.author else _author_of_role(message.role)
    side = _side(message.role, author)
    reason = skip_reason(host, side)
    if reason is not None:
        return Skip(reason)
    if side is Side.USER:
        peer = clean(message.peer) if message.peer else _user_peer(host, message, group=group)
        return PeerChoice(peer, side, author)
    own = host.peers.ai if side is Side.AI else host.peers.authors.get(author)
    if own is None:
        return Skip(SkipReason.AUTHOR)
    peer = clean(message.peer) if message.peer else own
    if peer in _people(host, message):
        return Skip(SkipReason.AUTHOR)
    return PeerChoice(peer, side, author)


def flags_for(host: Host, peer: str) -> PeerFlags:
    """The observation flags that a peer of the host joins a session with.

    Nobody is modelled from what cron jobs and tools write. Whoever is neither that nor the AI is a person.
    """
    if peer == host.peers.ai:
        return host.peers.observation.ai
    if peer in host.peers.authors.values():
        return _UNMODELLED
    return host.peers.observation.user


def _author_of_role(role: str) -> Author:
    return Author.HUMAN if role == "user" else Author.ASSISTANT


def _side(role: str, author: Author) -> Side:
    """A person speaks in the role of the user; the role alone makes nobody a person, nor does the author."""
    if author not in (Author.HUMAN, Author.ASSISTANT):
        return Side.OTHER
    return Side.USER if role == "user" and author is Author.HUMAN else Side.AI


def _runtime_ids(message: Message) -> tuple[str, ...]:
    return tuple(filter(None, (message.runtime_user, message.runtime_user_alt)))


def _user_peer(host: Host, message: Message, *, group: bool) -> str:
    peers = host.peers
    runtime_ids = _runtime_ids(message)
    if group and not runtime_ids:
        return UNKNOWN_PEER
    if peers.pin_user and peers.user is not None:
        return peers.user
    if runtime_ids:
        return _runtime_peer(host, runtime_ids, group=group)
    if peers.user is not None:
        return peers.user
    raise NoIdentity("nobody to attribute a human message to: set peerName, or send peer or runtime_user")


def _runtime_peer(host: Host, runtime_ids: tuple[str, ...], *, group: bool) -> str:
    """The peer of a platform's user. In a group nobody becomes the owner by calling himself like him."""
    aliases = host.peers.aliases
    alias = next((aliases[runtime_id] for runtime_id in runtime_ids if runtime_id in aliases), None)
    if alias is not None:
        return alias
    name = host.peers.runtime_prefix + runtime_ids[0]
    peer = clean(name)
    taken = host.peers.people | {host.peers.ai, UNKNOWN_PEER}
    return apart(name) if group and peer in taken else peer


def _people(host: Host, message: Message) -> frozenset[str]:
    """The peers of people, as far as the host and this message tell."""
    runtime_ids = _runtime_ids(message)
    if not runtime_ids:
        return host.peers.people
    return host.peers.people | {_runtime_peer(host, runtime_ids, group=False)}

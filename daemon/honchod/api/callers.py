"""Who is calling: the kernel's word about a peer, and what the configuration lets it do."""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Protocol

_UCRED: Final = struct.Struct("3i")
_SO_PEERGROUPS: Final = 59
"""asm-generic/socket.h, Linux 4.13 and later; the socket module does not name it."""
_GID_BYTES: Final = 4


class Role(IntEnum):
    """What a caller may do. Each role may also do what those below it may."""

    ANY = 0
    """Whoever may open the socket file: health, readiness, versions, metrics."""
    AGENT = 1
    """Named under ``[access]``: writes, recalls, uses the tools."""
    OPERATOR = 2
    """The daemon's own uid, root and ``operator_uids``: everything."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The process at the other end of a connection, as it was when it connected."""

    uid: int
    gid: int
    pid: int
    groups: frozenset[int]
    """The primary and the supplementary groups of the process."""


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of ``[access]``, with the daemon's own uid and root among the operators."""

    operator_uids: frozenset[int]
    agent_uids: frozenset[int]
    agent_gids: frozenset[int]

    @classmethod
    def of(
        cls,
        *,
        allow_uids: Iterable[int] = (),
        allow_gids: Iterable[int] = (),
        operator_uids: Iterable[int] = (),
        own_uid: int | None = None,
    ) -> Access:
        """The rules that follow from the configured lists; ``own_uid`` is this process's unless given."""
        own = os.geteuid() if own_uid is None else own_uid
        return cls(frozenset((0, own, *operator_uids)), frozenset(allow_uids), frozenset(allow_gids))

    def role_of(self, caller: Caller) -> Role:
        """The highest role that the rules give the caller."""
        if caller.uid in self.operator_uids:
            return Role.OPERATOR
        if caller.uid in self.agent_uids or not self.agent_gids.isdisjoint(caller.groups):
            return Role.AGENT
        return Role.ANY


class SocketOptions(Protocol):
    """The one method of a socket that is needed here; an event loop's stand-in for a socket has it too."""

    def getsockopt(self, level: int, optname: int, buflen: int, /) -> bytes:
        """As ``socket.socket.getsockopt``."""
        ...


def caller_of(peer: SocketOptions) -> Caller:
    """The process that opened this connected Unix socket, as the kernel recorded it then."""
    pid, uid, gid = _UCRED.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return Caller(uid, gid, pid, frozenset((gid, *_peer_groups(peer))))


def _peer_groups(peer: SocketOptions) -> tuple[int, ...]:
    room = 64
    while True:
        try:
            raw = peer.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, room * _GID_BYTES)
        except OSError as error:
            if error.errno != errno.ERANGE:
                raise
            room *= 4
        else:
            return struct.unpack(f"{len(raw) // _GID_BYTES}I", raw)

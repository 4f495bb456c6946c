"""Which session a request belongs to.

The caller names it, or says where it is and the host's configuration names it: the manual map, the longest
mapped ancestor of the working directory first; the title; the platform's key; the host's strategy.

A gateway chat keeps its own session whatever the strategy, ``global`` included: strategies are for callers
that have no chat of their own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Protocol

import msgspec

from honchod.errors import BadRequest
from honchod.identity.choices import SessionStrategy
from honchod.identity.host import Host

GitTop = Callable[[str], str | None]
"""Gives the top of the git work tree that holds a directory, or None."""


class Locator(Protocol):
    """Where a caller is. ``cwd`` is absolute."""

    @property
    def cwd(self) -> str | None: ...  # noqa: D102
    @property
    def title(self) -> str | None: ...  # noqa: D102
    @property
    def platform_key(self) -> str | None: ...  # noqa: D102
    @property
    def run_id(self) -> str | None: ...  # noqa: D102


class SessionSource(StrEnum):
    """What a session's key came from."""

    SESSION = "session"
    """The caller named it."""
    MAP = "map"
    TITLE = "title"
    PLATFORM_KEY = "platform_key"
    PER_DIRECTORY = "per-directory"
    PER_REPO = "per-repo"
    PER_SESSION = "per-session"
    GLOBAL = "global"


class SessionKey(msgspec.Struct, frozen=True):
    """A session as the host knows it. ``names.session_id`` makes the Honcho id of its generations."""

    key: str
    source: SessionSource


def session_key(
    host: Host,
    session: str | None,
    locator: Locator | None,
    git_top: GitTop,
    *,
    hide: Callable[[str], str] = str,
) -> SessionKey:
    """The session of a request. What the caller names, and what the operator mapped, is taken as it is;
    ``sessionPeerPrefix`` goes before titles and the names that a strategy makes. ``hide`` takes the secrets
    out of what comes from the caller.

    Raises BadRequest when the request says too little for the host's strategy.
    """
    if session:
        return SessionKey(hide(session), SessionSource.SESSION)
    if locator is None:
        raise BadRequest("session: expected a session or a locator")
    directory = working_directory(locator)
    mapped = _mapped(host, directory) if directory else None
    if mapped is not None:
        return SessionKey(mapped, SessionSource.MAP)
    if locator.title:
        return _prefixed(host, SessionKey(hide(locator.title), SessionSource.TITLE))
    if locator.platform_key:
        return SessionKey(hide(locator.platform_key), SessionSource.PLATFORM_KEY)
    chosen = _by_strategy(host, directory, locator.run_id, git_top)
    return _prefixed(host, SessionKey(hide(chosen.key), chosen.source))


def working_directory(locator: Locator) -> str | None:
    """The caller's directory in its one spelling. Raises BadRequest unless it is an absolute path."""
    if not locator.cwd:
        return None
    if not locator.cwd.startswith("/") or "\0" in locator.cwd:
        raise BadRequest("locator.cwd: expected an absolute path")
    return normal_directory(locator.cwd)


def normal_directory(path: str) -> str:
    """The path without ``.``, ``..``, doubled or trailing slashes."""
    normal = posixpath.normpath(path)
    return "/" + normal.lstrip("/") if normal.startswith("/") else normal


def directory_name(path: str) -> str:
    """The last segment of the path; of the root, the root."""
    return PurePosixPath(path).name or path


def _mapped(host: Host, directory: str) -> str | None:
    """The name of the nearest mapped directory, upwards from this one."""
    path = PurePosixPath(directory)
    ancestors = (str(ancestor) for ancestor in (path, *path.parents))
    return next((host.sessions.names[name] for name in ancestors if name in host.sessions.names), None)


def _prefixed(host: Host, session: SessionKey) -> SessionKey:
    if not host.sessions.peer_prefix or host.peers.user is None:
        return session
    return SessionKey(f"{host.peers.user}-{session.key}", session.source)


def _by_strategy(host: Host, directory: str | None, run_id: str | None, git_top: GitTop) -> SessionKey:
    """The strategy's name. Without a repository or a run id the directory stands in for it."""
    strategy = host.sessions.strategy
    if strategy is SessionStrategy.GLOBAL:
        return SessionKey(host.workspace, SessionSource.GLOBAL)
    if strategy is SessionStrategy.PER_SESSION and run_id:
        return SessionKey(run_id, SessionSource.PER_SESSION)
    if directory is None:
        raise BadRequest(f"locator.cwd: needed by the host's session strategy, {strategy}")
    top = git_top(directory) if strategy is SessionStrategy.PER_REPO else None
    if top is not None:
        return SessionKey(directory_name(top), SessionSource.PER_REPO)
    return SessionKey(directory_name(directory), SessionSource.PER_DIRECTORY)

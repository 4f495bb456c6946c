"""Which scope a session is seen under. Scopes filter what a recall sees; they do not divide memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from honchod.identity.choices import ScopeStrategy
from honchod.identity.host import Host
from honchod.identity.names import apart, clean
from honchod.identity.sessions import GitTop, Locator, directory_name, working_directory

MAX_LEN: Final = 506
"""Characters of a scope id. It may not start with ``scope.`` either, which no valid id does: no dots."""

_FOREIGN = re.compile(r"[^a-z0-9_-]+")


def scope_id(
    host: Host,
    scope: str | None,
    locator: Locator | None,
    git_top: GitTop,
    *,
    hide: Callable[[str], str] = str,
) -> str | None:
    """The scope of a request's session; None: the global view.

    The one that the caller names, else what the host's strategy says: ``project`` is named after the git top
    level that holds the caller's directory, or after the directory. ``hide`` takes the secrets out of what
    comes from the caller. Raises BadRequest for a relative directory.
    """
    if scope:
        return clean(hide(scope), max_len=MAX_LEN)
    if host.scopes.strategy is ScopeStrategy.CUSTOM:
        return clean(host.scopes.prefix + host.scopes.custom, max_len=MAX_LEN)
    directory = working_directory(locator) if locator is not None else None
    if host.scopes.strategy is ScopeStrategy.OFF or directory is None:
        return None
    project = directory_name(git_top(directory) or directory)
    return clean(host.scopes.prefix + slug(hide(project)), max_len=MAX_LEN)


def slug(project: str) -> str:
    """A project's name in lower case with hyphens for what no id takes, as Agent Zero writes it.

    A name that is not all ASCII would lose letters that tell it from others: a hash stands for them.
    """
    lowered = project.lower()
    readable = _FOREIGN.sub("-", lowered).strip("-") if lowered.isascii() else ""
    return readable or apart(lowered)

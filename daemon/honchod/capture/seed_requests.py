"""The wire types of ``POST /v1/identity/…``: persona and memory files."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from honchod.identity.requests import Id, Locator, SessionRequest

SESSION_SUFFIX: Final = "-identity"
"""A file that names no session goes to one of the host's own, named ``<host>-identity``."""

Source = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
"""The name of a file, without its directory."""


class SeedRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """A file to be taken in once. ``again`` takes in what was taken in before."""

    source: Source
    content: str
    host: Id = "default"
    session: Id | None = None
    locator: Locator | None = None
    scope: Id | None = None
    again: bool = False

    def located(self, host: str) -> SessionRequest:
        """Where it goes; ``host`` is the host's own name."""
        own = f"{host}{SESSION_SUFFIX}" if self.session is None and self.locator is None else None
        return SessionRequest(
            host=self.host, session=own or self.session, locator=self.locator, scope=self.scope
        )


class SeedResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a file: ``duplicate`` was taken in before, under this id."""

    session: str
    status: Literal["queued", "duplicate", "skipped"]
    id: str | None = None
    parts: int | None = None
    reason: Literal["mode_local", "capture_off", "empty"] | None = None

"""The wire types of ``/v1/tools``: what an agent calls and what it gets."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from honchod.identity.requests import Id, Locator, SessionRequest

SESSION_SUFFIX: Final = "-memory"
"""A call that names no session belongs to one of the host's own, named ``<host>-memory``."""


class ToolsQuery(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Whose tools, and under whose names (absent: under all)."""

    host: Id = "default"
    family: Literal["hermes", "agent_zero", "openclaw"] | None = None


class ToolFunction(msgspec.Struct, frozen=True):
    """A tool as a model is told about it; ``parameters`` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolSchema(msgspec.Struct, frozen=True):
    """A tool in OpenAI's format."""

    function: ToolFunction
    type: str = "function"


class ToolList(msgspec.Struct, frozen=True):
    """The tools of a host; none where its recall mode hides them."""

    tools: list[ToolSchema]


def _no_arguments() -> msgspec.Raw:
    return msgspec.Raw(b"{}")


class ToolRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """The body of ``POST /v1/tools/{name}``. ``arguments`` are those of the tool's schema."""

    host: Id = "default"
    session: Id | None = None
    locator: Locator | None = None
    scope: Id | None = None
    arguments: msgspec.Raw = msgspec.field(default_factory=_no_arguments)

    def located(self, host: str, scope: str | None) -> SessionRequest:
        """Where it belongs; ``host`` is the host's own name, ``scope`` one that the arguments name."""
        own = f"{host}{SESSION_SUFFIX}" if self.session is None and self.locator is None else None
        return SessionRequest(
            host=self.host, session=own or self.session, locator=self.locator, scope=scope or self.scope
        )


class ToolAnswer(msgspec.Struct, frozen=True):
    """What a tool did. ``text`` is for the model; ``pending`` are the session's events that still wait."""

    result: msgspec.Raw
    text: str
    pending: int

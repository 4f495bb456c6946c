"""The tools: each capability under the names that agents know. Adding a name is a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from honchod.errors import BadRequest, NotFound
from honchod.identity.choices import RecallMode
from honchod.identity.host import Host
from honchod.memory import arguments, interpret
from honchod.memory.arguments import Arguments
from honchod.memory.families import Family
from honchod.memory.requests import ToolFunction, ToolList, ToolSchema
from honchod.memory.tasks import Task

_EVERY: Final = frozenset({Family.HERMES, Family.OPENCLAW})
_HERMES: Final = frozenset({Family.HERMES})
_OPENCLAW: Final = frozenset({Family.OPENCLAW})
_ENUM_VALUE: Final = "Invalid enum value"
_WHERE: Final = " - at `$"


@dataclass(frozen=True, slots=True)
class Tool:
    """One name. ``interpret`` makes its arguments a task."""

    name: str
    description: str
    families: frozenset[Family]
    arguments: type[Arguments]
    interpret: Callable[[Any], Task]


TOOLS: Final = (
    Tool(
        "honcho_profile",
        "Read a peer's card: name, role, preferences. Costs next to nothing. With card, replace it.",
        _EVERY,
        arguments.Profile,
        interpret.profile,
    ),
    Tool(
        "honcho_search",
        "Search what is remembered of a peer. Returns excerpts, the best first, without a synthesis. "
        "Finds what was said a second ago too, marked as pending.",
        _EVERY,
        arguments.Search,
        interpret.search,
    ),
    Tool(
        "honcho_context",
        "Everything of this session and a peer at once: summary, representation, card, latest messages.",
        _EVERY,
        arguments.Context,
        interpret.context,
    ),
    Tool(
        "honcho_reasoning",
        "Ask a question about a peer that takes thought. Slow and costly: use it where search is not enough.",
        _HERMES,
        arguments.Reasoning,
        interpret.reasoning,
    ),
    Tool(
        "honcho_conclude",
        "Remember a fact about a peer for good (conclusion), list such facts (list), or remove one for "
        "privacy (delete_id). Pass exactly one of them.",
        _HERMES,
        arguments.Conclude,
        interpret.conclude,
    ),
    Tool(
        "honcho_recall",
        "Ask a simple question about a peer: a quick answer from memory.",
        _OPENCLAW,
        arguments.Ask,
        interpret.recall,
    ),
    Tool(
        "honcho_analyze",
        "Ask a hard question about a peer: a thorough answer, slow and costly.",
        _OPENCLAW,
        arguments.Ask,
        interpret.analyze,
    ),
    Tool(
        "honcho_memory",
        "Long-term memory: recall a pack for the prompt, search, ask a question, remember a fact, forget "
        "one, see the status, or have memory consolidated (dream).",
        frozenset({Family.AGENT_ZERO}),
        arguments.Memory,
        interpret.memory,
    ),
)
_BY_NAME: Final = {tool.name: tool for tool in TOOLS}


def listed(host: Host, family: Family | None) -> ToolList:
    """The schemas of a host's tools; none where its recall mode hides them, or it is switched off."""
    if host.recall.mode is RecallMode.CONTEXT or not host.enabled:
        return ToolList([])
    return ToolList([_schema(tool) for tool in TOOLS if family is None or family in tool.families])


def task_of(name: str, given: msgspec.Raw) -> Task:
    """The task that a call stands for. Raises NotFound for a name that is none, and BadRequest."""
    tool = _BY_NAME.get(name)
    if tool is None:
        raise NotFound(f"there is no such tool; there are {', '.join(_BY_NAME)}")
    try:
        read = msgspec.json.decode(given, type=tool.arguments)
    except msgspec.DecodeError as error:
        problem = _words(str(error))
    else:
        return tool.interpret(read)
    raise BadRequest(problem)


def _schema(tool: Tool) -> ToolSchema:
    _, components = msgspec.json.schema_components([tool.arguments])
    schema = dict(components[tool.arguments.__name__])
    parameters = {name: schema[name] for name in ("type", "properties", "required", "additionalProperties")}
    return ToolSchema(ToolFunction(tool.name, tool.description, parameters))


def _words(failure: str) -> str:
    """What is wrong with the arguments, without the value that was sent."""
    what, _, path = failure.partition(_WHERE)
    if what.startswith(_ENUM_VALUE):
        what = "not one of the allowed values"
    return f"arguments{path.rstrip('`')}: {what}"

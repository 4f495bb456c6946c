"""From a tool's arguments to the task. Pure. What the schema cannot say is checked here: BadRequest."""

from __future__ import annotations

from typing import Final

from honchod.errors import BadRequest
from honchod.identity.choices import ReasoningLevel
from honchod.memory import arguments, tasks
from honchod.memory.tasks import Task, Where
from honchod.recall.assemble import CHARS_PER_TOKEN
from honchod.recall.reasoning import ANALYZE_FLOOR, RECALL_FLOOR

_SCOPED: Final = frozenset({"recall", "ask"})


def profile(given: arguments.Profile) -> Task:
    """``honcho_profile``."""
    if given.card is None:
        return tasks.ReadCard(given.peer)
    return tasks.SetCard(given.peer, tuple(given.card))


def search(given: arguments.Search) -> Task:
    """``honcho_search``."""
    chars = given.max_tokens * CHARS_PER_TOKEN
    return tasks.Search(given.query, given.peer, Where.KNOWN, arguments.ITEMS_MAX, chars)


def context(given: arguments.Context) -> Task:
    """``honcho_context``."""
    return tasks.Pack(given.peer)


def reasoning(given: arguments.Reasoning) -> Task:
    """``honcho_reasoning``."""
    level = None if given.reasoning_level is None else ReasoningLevel(given.reasoning_level)
    return tasks.Ask(given.query, given.peer, level=level)


def recall(given: arguments.Ask) -> Task:
    """``honcho_recall``: a quick answer."""
    return tasks.Ask(given.query, given.peer, floor=RECALL_FLOOR)


def analyze(given: arguments.Ask) -> Task:
    """``honcho_analyze``: a thorough one."""
    return tasks.Ask(given.query, given.peer, floor=ANALYZE_FLOOR)


def conclude(given: arguments.Conclude) -> Task:
    """``honcho_conclude``."""
    chosen = (given.conclusion is not None, given.delete_id is not None, given.list)
    if sum(chosen) != 1:
        raise BadRequest("arguments: exactly one of conclusion, delete_id and list")
    if given.query is not None and not given.list:
        raise BadRequest("arguments.query: only with list")
    if given.conclusion is not None:
        return tasks.Conclude(given.conclusion, given.peer)
    if given.delete_id is not None:
        return tasks.Forget(given.delete_id)
    return tasks.ListConclusions(given.peer, given.query, arguments.ITEMS_MAX)


def memory(given: arguments.Memory) -> Task:
    """``honcho_memory``."""
    searches_workspace = given.action == "search" and given.where == "workspace"
    if given.scope is not None and given.action not in _SCOPED and not searches_workspace:
        raise BadRequest("arguments.scope: only with recall, ask and a search of the workspace")
    match given.action:
        case "recall":
            return tasks.Pack(given.peer, _query(given), given.scope)
        case "search":
            chars = arguments.SEARCH_TOKENS * CHARS_PER_TOKEN
            where = Where(given.where)
            return tasks.Search(_query(given), given.peer, where, given.limit, chars, given.scope)
        case "ask":
            return tasks.Ask(_query(given), given.peer, scope=given.scope)
        case "remember":
            if given.content is None:
                raise BadRequest("arguments.content: remember needs it")
            return tasks.Conclude(given.content, given.peer)
        case "forget":
            return _forget(given)
        case "dream":
            return tasks.Dream(given.peer)
        case "status":
            return tasks.ShowStatus()


def _query(given: arguments.Memory) -> str:
    if given.query is None:
        raise BadRequest(f"arguments.query: {given.action} needs it")
    return given.query


def _forget(given: arguments.Memory) -> Task:
    if given.conclusion_id is None:
        raise BadRequest("arguments.conclusion_id: forget needs the exact id")
    if not given.confirm:
        raise BadRequest("arguments.confirm: forget needs confirm=true, after the user has confirmed it")
    return tasks.Forget(given.conclusion_id)

"""The control API under ``/sandbox/``: look into a running sandbox, and steer it.

| call | does |
| --- | --- |
| ``GET /sandbox/messages?workspace=&session=`` | the messages, in storage order |
| ``GET /sandbox/sessions?workspace=`` | the sessions |
| ``GET /sandbox/conclusions?workspace=`` | the conclusions |
| ``GET /sandbox/requests?after=SERIAL`` | the request log |
| ``GET /sandbox/faults`` | the rules that are set, with how many requests each has hit |
| ``POST /sandbox/faults`` | adds rules: ``{"spec": "…"}`` or ``{"rules": [{…}]}`` |
| ``DELETE /sandbox/faults`` | unsets all rules |
| ``POST /sandbox/down`` | ``{"seconds": 5}``: closes the listener for so long |
| ``POST /sandbox/reset`` | forgets state, faults and log |

It needs no key: a sandbox listens on loopback and holds nothing of value.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from .calls import NO_CONTENT, Answer
from .core import Core
from .fault_spec import SpecError, parse_faults
from .faults import Rule
from .store import WorkspaceState

CONTROL_PREFIX: Final = "/sandbox/"
_TAKE_DOWN_DELAY_S: Final = 0.05


class FaultsBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Rules to add, as text, as objects, or both."""

    spec: str = ""
    rules: list[Rule] = []


class DownBody(Struct, frozen=True, forbid_unknown_fields=True):
    """For how long to close the listener."""

    seconds: float


class StandingRule(Struct, frozen=True):
    """A rule that is set and how many requests it has hit."""

    rule: Rule
    fired: int


class Control:
    """Answers the control calls of one sandbox."""

    def __init__(self, core: Core, take_down: Callable[[float], Awaitable[None]]) -> None:
        self._core = core
        self._take_down = take_down
        self._tasks: set[asyncio.Task[None]] = set()

    async def perform(self, method: str, path: str, query: Mapping[str, str], body: bytes) -> Answer:
        """Answer one control call."""
        self._core.settle()
        try:
            match method, path.removeprefix(CONTROL_PREFIX):
                case "GET", "messages":
                    return self._messages(query)
                case "GET", "sessions":
                    return self._sessions(query)
                case "GET", "conclusions":
                    return self._conclusions(query)
                case "GET", "requests":
                    after = int(query.get("after", 0))
                    return Answer.of([r for r in self._core.log.records() if r.serial > after])
                case "GET", "faults":
                    return Answer.of([StandingRule(rule, n) for rule, n in self._core.faults.fired()])
                case "POST", "faults":
                    wanted = msgspec.json.decode(body, type=FaultsBody)
                    rules = [*parse_faults(wanted.spec), *wanted.rules]
                    self._core.faults.add(rules, time.monotonic())
                case "DELETE", "faults":
                    self._core.faults.clear()
                case "POST", "down":
                    self._down_soon(msgspec.json.decode(body, type=DownBody).seconds)
                case "POST", "reset":
                    self._core.reset()
                case _:
                    return Answer.of({"detail": "Not Found"}, 404)
        except (msgspec.DecodeError, SpecError, ValueError) as error:
            return Answer.of({"detail": str(error)}, 400)
        return NO_CONTENT

    def _messages(self, query: Mapping[str, str]) -> Answer:
        session = self._core.store.session(query.get("workspace", ""), query.get("session", ""))
        return Answer.of(session.messages if session else [])

    def _sessions(self, query: Mapping[str, str]) -> Answer:
        workspace = self._workspace(query)
        return Answer.of([session.row for session in workspace.sessions.values()] if workspace else [])

    def _conclusions(self, query: Mapping[str, str]) -> Answer:
        workspace = self._workspace(query)
        return Answer.of([found.row for found in workspace.conclusions.values()] if workspace else [])

    def _workspace(self, query: Mapping[str, str]) -> WorkspaceState | None:
        return self._core.store.workspaces.get(query.get("workspace", ""))

    def _down_soon(self, seconds: float) -> None:
        """Close the listener once this call is answered."""

        async def down() -> None:
            await asyncio.sleep(_TAKE_DOWN_DELAY_S)
            await self._take_down(seconds)

        task = asyncio.create_task(down())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

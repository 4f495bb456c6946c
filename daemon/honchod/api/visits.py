"""What is told of an answered request: a line in the log, and an observer. Never a path or a body."""

from __future__ import annotations

import time
from collections.abc import Callable
from logging import DEBUG
from typing import Final

import structlog

from honchod.api.callers import Caller
from honchod.api.route import Route
from honchod.errors import Problem

_log = structlog.get_logger(__name__)

NO_ROUTE: Final = "none"
"""Stands for the route of a request that has none: what was asked for is the caller's text."""

_LOUD: Final = frozenset({403, 413, 429, 503, 507})
"""Refusals that an operator can do something about; other ones are the caller's own affair."""

Observe = Callable[[str, int, float], None]
"""Told route, status and seconds of every answer."""


class Visit:
    """One request, from its arrival. ``route`` is set once it is known."""

    __slots__ = ("caller", "request_id", "route", "started_s")

    def __init__(self, caller: Caller, request_id: str) -> None:
        self.caller = caller
        self.request_id = request_id
        self.route: Route | None = None
        self.started_s = time.monotonic()

    @property
    def route_name(self) -> str:
        """Its route, as the log and the observer know it."""
        return NO_ROUTE if self.route is None else self.route.name


class VisitorsBook:
    """Where the end of each visit is written down. Set logging up before it is made."""

    def __init__(self, observe: Observe | None) -> None:
        self._observe = observe
        self._verbose: bool = _log.is_enabled_for(DEBUG)

    def answered(self, visit: Visit, status: int) -> None:
        """It was answered as it asked."""
        if self._verbose:
            _log.debug("request.answered", status=status, **_facts(visit))
        self._tell(visit, status)

    def refused(self, visit: Visit, problem: Problem) -> None:
        """It was answered with a problem."""
        tell = _log.warning if problem.status in _LOUD else _log.info
        tell("request.refused", status=problem.status, code=problem.code, **_facts(visit))
        self._tell(visit, problem.status)

    def failed(self, visit: Visit) -> None:
        """The daemon failed at it; the line that says so was written where that was seen."""
        self._tell(visit, 500)

    def _tell(self, visit: Visit, status: int) -> None:
        if self._observe is not None:
            self._observe(visit.route_name, status, time.monotonic() - visit.started_s)


def _facts(visit: Visit) -> dict[str, object]:
    return {
        "route": visit.route_name,
        "ms": round((time.monotonic() - visit.started_s) * 1000, 1),
        "uid": visit.caller.uid,
        "request_id": visit.request_id,
    }

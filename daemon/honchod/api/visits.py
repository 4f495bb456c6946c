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

    def __init__(self, caller: Caller, observe: Observe | None) -> None:
        self.route: Route | None = None
        self._caller = caller
        self._observe = observe
        self._started_s = time.monotonic()

    def answered(self, status: int) -> None:
        """It was answered as it asked."""
        if _log.is_enabled_for(DEBUG):
            _log.debug("request.answered", status=status, **self._facts())
        self._tell(status)

    def refused(self, problem: Problem) -> None:
        """It was answered with a problem."""
        tell = _log.warning if problem.status in _LOUD else _log.info
        tell("request.refused", status=problem.status, code=problem.code, **self._facts())
        self._tell(problem.status)

    def failed(self) -> None:
        """The daemon failed at it; the line that says so was written where that was seen."""
        self._tell(500)

    def _facts(self) -> dict[str, object]:
        return {"route": self._name, "ms": round(self._elapsed_s() * 1000, 1), "uid": self._caller.uid}

    def _tell(self, status: int) -> None:
        if self._observe is not None:
            self._observe(self._name, status, self._elapsed_s())

    def _elapsed_s(self) -> float:
        return time.monotonic() - self._started_s

    @property
    def _name(self) -> str:
        return NO_ROUTE if self.route is None else self.route.name

"""What has begun and waits for one thing alone: done without a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")


class Begun(msgspec.Struct, Generic[R_co], frozen=True):
    """Work of which all that can be done before the wait is done.

    ``result`` makes its result of what ``awaited`` gives, and raises what goes wrong after the wait. It is to
    be called once, by whoever waits; if nobody does, what was awaited happens all the same.
    """

    awaited: asyncio.Future[Any]
    result: Callable[[Any], R_co]

    def then(self, make: Callable[[R_co], S]) -> Begun[S]:
        """The same work with something to do to its result."""
        return Begun(self.awaited, partial(_after, self.result, make))


def _after(result: Callable[[Any], R_co], make: Callable[[R_co], S], got: Any) -> S:
    return make(result(got))

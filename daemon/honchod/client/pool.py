"""The idle connections of a client."""

from __future__ import annotations

import os
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from honchod.client.connection import Link

IDLE_MAX = 8


class Pool:
    """Idle connections, the last one used first.

    Safe between threads without a lock, because a deque's append and pop are atomic; and across a fork: the
    child closes what it inherited, since two processes on one connection would mix up their answers.
    """

    def __init__(self) -> None:
        self._idle: deque[Link] = deque()
        self._pid = os.getpid()
        self._closed = False

    def take(self) -> Link | None:
        """A connection that the daemon has not closed meanwhile, or None."""
        if self._pid != os.getpid():
            self._empty()
            self._pid = os.getpid()
        while (link := self._pop()) is not None:
            if not link.is_stale():
                return link
            link.close()
        return None

    def give_back(self, link: Link) -> None:
        """Keep a connection for the next call, or close it when there are enough."""
        if len(self._idle) >= IDLE_MAX:
            link.close()
            return
        self._idle.append(link)
        if self._closed:
            self._empty()

    def close(self) -> None:
        """Close the idle connections; those in use close when they come back."""
        self._closed = True
        self._empty()

    def _empty(self) -> None:
        while (link := self._pop()) is not None:
            link.close()

    def _pop(self) -> Link | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

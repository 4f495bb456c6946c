"""A front door on a real Unix socket, on uvloop in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import uvloop
from memory_backend import MemoryBackend

from honchod.api.callers import Access
from honchod.api.server import FrontDoor
from honchod.api.sockets import Listener, bind
from honchod.ops.views import LimitsView
from support.raw_http import Peer, Reply

T = TypeVar("T")

LIMITS = LimitsView(
    body_bytes=4 * 2**20, messages_per_request=1000, id_chars=512, connections=256, arrival_s=30, idle_s=60
)


class RunningDoor:
    """A front door that is up, and the loop it runs on."""

    def __init__(self, path: Path, limits: LimitsView, access: Access, listener: Listener | None) -> None:
        self.path = path
        self.headers: dict[str, str] = {}
        """What every request of `ask` carries."""
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.backend, self.door = self.run(self._start(limits, access, listener))

    async def _start(
        self, limits: LimitsView, access: Access, listener: Listener | None
    ) -> tuple[MemoryBackend, FrontDoor]:
        backend = MemoryBackend(limits)
        door = FrontDoor(backend, limits=limits, access=access)
        await door.start(listener or bind(self.path))
        return backend, door

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def soon(self, act: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(act)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """The door's loop stands still meanwhile: what comes in is met all at once afterwards."""
        standing, go_on = threading.Event(), threading.Event()
        self.soon(lambda: (standing.set(), go_on.wait(30)))
        assert standing.wait(30)
        try:
            yield
        finally:
            go_on.set()

    def peer(self) -> Peer:
        return Peer(self.path)

    def ask(self, method: str, target: str, body: bytes | None = None, **headers: str) -> Reply:
        with self.peer() as peer:
            return peer.request(method, target, body, {**self.headers, **headers})

    def stop(self, timeout_s: float = 5.0) -> None:
        self.run(self.door.stop(timeout_s))

    def close(self) -> None:
        self.stop(0.1)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

"""The weather over the server: what goes wrong there, one thing after the other."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator

from honchod.client.errors import ClientError
from soak.plan import Weather
from soak.server import Server
from support.daemon import DaemonProcess


class Sky:
    """Makes weather until it is told to clear up; then the server is well again."""

    def __init__(self, server: Server, daemon: DaemonProcess, weather: Iterator[Weather]) -> None:
        self._server = server
        self._daemon = daemon
        self._weather = weather
        self._ended = threading.Event()
        self.seen: Counter[str] = Counter()
        self.hits: Counter[str] = Counter()
        """Requests that met a fault, by weather."""

    def end(self) -> None:
        """Clear up."""
        self._ended.set()

    def run(self) -> None:
        """Make weather."""
        for present in self._weather:
            if self._ended.is_set():
                return
            self._make(present)

    def _make(self, present: Weather) -> None:
        if present.restarts:
            self._server.restart()
        elif present.spec:
            self._server.hit(present.spec)
        self._ended.wait(present.lasts_s)
        if present.spec:
            self.hits[present.name] += self._server.fired()
            self._server.heal()
        if present.clears_up:
            # What an operator does who has mended the key.
            with contextlib.suppress(ClientError), self._daemon.client(timeout_s=2.0) as client:
                client.wake()
        self.seen[present.name] += 1

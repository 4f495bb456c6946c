"""Other durable queues in Python, each set to sync every write, each used as its documentation says."""

from __future__ import annotations

import importlib
import sqlite3
import threading
from pathlib import Path
from typing import Any, Final, Protocol

BUSY_S: Final = 60.0


class Peer(Protocol):
    """A queue, shared by the threads of one process."""

    def put(self, text: str) -> None:
        """Keep a message; it is on disk when this returns."""

    def take(self) -> bool:
        """Hand a message out for good. False when there is none."""


class Huey:
    """The storage of ``SqliteHuey(fsync=True)``."""

    def __init__(self, directory: Path) -> None:
        storage: Any = importlib.import_module("huey.storage")
        self._storage = storage.SqliteStorage("bench", str(directory / "huey"), fsync=True, timeout=BUSY_S)

    def put(self, text: str) -> None:
        """Enqueue."""
        self._storage.enqueue(text.encode())

    def take(self) -> bool:
        """Dequeue."""
        return self._storage.dequeue() is not None


class PersistQueue:
    """``SQLiteAckQueue``, committing by itself; the driver's default is FULL."""

    def __init__(self, directory: Path) -> None:
        module: Any = importlib.import_module("persistqueue")
        path = str(directory / "persist-queue")
        self._queue = module.SQLiteAckQueue(path, multithreading=True, auto_commit=True)

    def put(self, text: str) -> None:
        """Put."""
        self._queue.put(text)

    def take(self) -> bool:
        """Get and acknowledge."""
        if not self._queue.size:
            return False
        self._queue.ack(self._queue.get(block=False))
        return True


class LiteQueue:
    """A queue object for each thread, on one file; it sets NORMAL itself, so FULL is set after it."""

    def __init__(self, directory: Path) -> None:
        self._module: Any = importlib.import_module("litequeue")
        self._path = str(directory / "litequeue")
        self._local = threading.local()
        self._mine()

    def put(self, text: str) -> None:
        """Put."""
        self._mine().put(text)

    def take(self) -> bool:
        """Pop and mark as done."""
        queue = self._mine()
        message = queue.pop()
        if message is None:
            return False
        queue.done(message.message_id)
        return True

    def _mine(self) -> Any:
        queue = getattr(self._local, "queue", None)
        if queue is None:
            connection = sqlite3.connect(self._path, timeout=BUSY_S, check_same_thread=False)
            queue = self._local.queue = self._module.LiteQueue(connection)
            connection.execute("PRAGMA synchronous = FULL")
        return queue


PEERS: Final[dict[str, type[Huey | PersistQueue | LiteQueue]]] = {
    "huey": Huey,
    "persist-queue": PersistQueue,
    "litequeue": LiteQueue,
}

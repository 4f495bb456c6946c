"""The least that a durable ack over a socket costs in one Python process, ``-m bench.yardsticks.storing``.

It decodes a request, hands it to a thread that writes, and answers after the commit, in groups as they come:
the daemon without names, secrets, duplicates that may come again, bounds, counters, order or search.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, cast

import msgspec
import uvloop

from bench.yardsticks.apart import READY, serving

_GROUP_MAX: Final = 512
_WAL_PAGES: Final = 2048
_BODY: Final = msgspec.json.encode(
    {"session": "s", "results": [{"id": "many-12-12345", "status": "queued", "parts": 1}]}
)
_ANSWER: Final = (
    b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_BODY)
) + _BODY


class _Message(msgspec.Struct):
    content: str
    id: str


class _Request(msgspec.Struct):
    messages: list[_Message]
    session: str


_Jobs = queue.SimpleQueue[tuple["_Connection", _Request]]
_decode: Final = msgspec.json.Decoder(_Request).decode


def running_storing(directory: Path) -> AbstractContextManager[str]:
    """A server in a process of its own, with its database in ``directory``. Gives its socket."""
    database = str(directory / "storing.sqlite3")
    return serving("bench.yardsticks.storing", directory / "storing.sock", database)


class _Connection(asyncio.Protocol):
    def __init__(self, jobs: _Jobs) -> None:
        self._jobs = jobs
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if end and len(body) >= int(head.rpartition(b"Content-Length: ")[2]):
            self._buffer = b""
            self._jobs.put((self, _decode(body)))

    def answer(self) -> None:
        self._transport.write(_ANSWER)


def _write(path: str, jobs: _Jobs, loop: asyncio.AbstractEventLoop) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    sql = connection.execute
    sql("PRAGMA journal_mode = WAL")
    sql("PRAGMA synchronous = FULL")
    sql(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
    sql("CREATE TABLE message (id INTEGER PRIMARY KEY, session TEXT, name TEXT, content TEXT)")
    sql("CREATE UNIQUE INDEX name ON message (session, name)")
    while True:
        group = [jobs.get()]
        while len(group) < _GROUP_MAX and not jobs.empty():
            group.append(jobs.get())
        rows = [
            (request.session, message.id, message.content)
            for _, request in group
            for message in request.messages
        ]
        sql("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO message (session, name, content) VALUES (?, ?, ?)", rows)
        sql("COMMIT")
        loop.call_soon_threadsafe(_answer, [one for one, _ in group])


def _answer(connections: Sequence[_Connection]) -> None:
    for connection in connections:
        connection.answer()


async def _serve(socket: str, database: str) -> None:
    loop = asyncio.get_running_loop()
    jobs: _Jobs = queue.SimpleQueue()
    threading.Thread(target=_write, args=(database, jobs, loop), daemon=True).start()
    await loop.create_unix_server(lambda: _Connection(jobs), socket)
    print(READY, flush=True)
    await loop.create_future()


if __name__ == "__main__":
    uvloop.run(_serve(sys.argv[1], sys.argv[2]))

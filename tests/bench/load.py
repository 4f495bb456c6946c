"""A load: writers, each on a connection of its own, in a process of their own.

They go on as soon as they have their answer (a closed loop), or keep a pace.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from statistics import median
from typing import cast

import uvloop

from bench.dialects import Dialect

RECEIVE_BYTES = 1 << 20
ANSWER_S = 60.0


@dataclass(frozen=True, slots=True)
class Job:
    """So many writers for so long, each with its next request as soon as the last one is answered, or one
    every ``every_s``, out of step with the others. Whoever is late then counts from when it should have been.
    """

    socket: str
    dialect: Dialect
    writers: int
    seconds: float
    every_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """What a load achieved."""

    requests: int
    elapsed_s: float
    median_s: float
    p99_s: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.elapsed_s


class Generator:
    """A process that puts load on servers. Numbers of requests go on from job to job: ids never repeat."""

    def __init__(self, process: ProcessPoolExecutor) -> None:
        self._process = process
        self._first = 0

    def run(self, job: Job) -> Done:
        """Run one load and wait for its end."""
        return self.begin(job).result()

    def begin(self, job: Job) -> Future[Done]:
        """Run one load beside what else there is to do."""
        first, self._first = self._first, self._first + 10_000_000
        return self._process.submit(_run, job, first)


@contextmanager
def generator() -> Iterator[Generator]:
    """A generator; its process ends with the block."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        yield Generator(process)


class Caller:
    """One writer that waits for each answer before it goes on, as a thread of an agent does."""

    def __init__(self, path: str, dialect: Dialect, *, writer: int = 0) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(ANSWER_S)
        self._socket.connect(path)
        self._dialect = dialect
        self._writer = writer
        self._number = 0
        self.last_answer = b""

    def call(self) -> float:
        """One request; the seconds to its answer."""
        request = self._dialect.request(self._writer, self._number)
        self._number += 1
        buffer = bytearray()
        started = time.perf_counter()
        self._socket.sendall(request)
        while not self._dialect.answered(buffer):
            data = self._socket.recv(RECEIVE_BYTES)
            if not data:
                raise ConnectionError("the server closed the connection")
            buffer += data
        elapsed_s = time.perf_counter() - started
        self.last_answer = bytes(buffer)
        return elapsed_s

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


class _Writer(asyncio.Protocol):
    def __init__(self, job: Job, index: int, first: int, until_s: float) -> None:
        self._job = job
        self._index = index
        self._number = first
        self._until_s = until_s
        self._buffer = bytearray()
        self.seconds: list[float] = []
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclass of asyncio's.
        self._transport = cast("asyncio.WriteTransport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_exception(exc or ConnectionError("the server closed the connection"))

    def begin(self) -> None:
        """The first request: at once, or when the writer's turn comes in the pace of all."""
        self._due_s = time.perf_counter() + self._job.every_s * self._index / self._job.writers
        self._next()

    def _next(self) -> None:
        wait_s = self._due_s - time.perf_counter() if self._job.every_s else 0.0
        if wait_s > 0:
            asyncio.get_running_loop().call_later(wait_s, self._say, None)
        else:
            self._say(self._due_s if self._job.every_s else None)

    def _say(self, due_s: float | None) -> None:
        self._sent_s = time.perf_counter() if due_s is None else due_s
        self._due_s += self._job.every_s
        self._transport.write(self._job.dialect.request(self._index, self._number))
        self._number += 1

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        try:
            whole = self._job.dialect.answered(self._buffer)
        except Exception as error:
            self.ended.set_exception(error)
            return
        if not whole:
            return
        del self._buffer[:whole]
        now_s = time.perf_counter()
        self.seconds.append(now_s - self._sent_s)
        if now_s < self._until_s:
            self._next()
        else:
            self.ended.set_result(None)


def _run(job: Job, first: int) -> Done:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_load(job, first))


async def _load(job: Job, first: int) -> Done:
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    until_s = started + job.seconds
    writers: list[_Writer] = []
    transports = []
    for index in range(job.writers):
        made = partial(_Writer, job, index, first, until_s)
        transport, writer = await loop.create_unix_connection(made, job.socket)
        writers.append(writer)
        transports.append(transport)
    started = time.perf_counter()
    for writer in writers:
        writer.begin()
    await asyncio.gather(*(writer.ended for writer in writers))
    elapsed_s = time.perf_counter() - started
    for transport in transports:
        transport.close()
    seconds = sorted(one for writer in writers for one in writer.seconds)
    return Done(len(seconds), elapsed_s, median(seconds), seconds[len(seconds) * 99 // 100])

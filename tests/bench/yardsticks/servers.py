"""The least that an answer over a Unix socket can cost, in Python: ``python -m bench.yardsticks.servers``.

``bare`` is an aiohttp handler that does nothing but answer, ``echo`` sends back what comes, without HTTP.
What ``bare`` answers is read from standard input.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, cast

import uvloop
from aiohttp import web

Kind = Literal["bare", "echo"]
_READY: Final = "ready"


@contextmanager
def running_server(kind: Kind, directory: Path, answer: bytes) -> Iterator[str]:
    """A server in a process of its own. Gives its socket."""
    socket = str(directory / f"{kind}.sock")
    command = [sys.executable, "-m", "bench.yardsticks.servers", kind, socket]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(answer)
        process.stdin.close()
        process.stdout.readline()
        try:
            yield socket
        finally:
            process.terminate()


class _Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


async def _serve(kind: Kind, socket: str, answer: bytes) -> None:
    async def handle(request: web.BaseRequest) -> web.Response:
        await request.read()
        return web.Response(body=answer, content_type="application/json")

    loop = asyncio.get_running_loop()
    await loop.create_unix_server(web.Server(handle, access_log=None) if kind == "bare" else _Echo, socket)
    print(_READY, flush=True)
    await loop.create_future()


if __name__ == "__main__":
    uvloop.run(_serve(cast("Kind", sys.argv[1]), sys.argv[2], sys.stdin.buffer.read()))

"""The least that an answer over a Unix socket can cost, in Python: ``python -m bench.yardsticks.servers``.

``bare`` is an aiohttp handler that does nothing but answer, ``echo`` sends back what comes, without HTTP.
What ``bare`` answers is read from standard input.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, cast

import uvloop
from aiohttp import web

from bench.yardsticks.apart import READY, serving

Kind = Literal["bare", "echo"]


def running_server(kind: Kind, directory: Path, answer: bytes) -> AbstractContextManager[str]:
    """A server in a process of its own. Gives its socket."""
    return serving("bench.yardsticks.servers", directory / f"{kind}.sock", kind, given=answer)


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
    print(READY, flush=True)
    await loop.create_future()


if __name__ == "__main__":
    uvloop.run(_serve(cast("Kind", sys.argv[2]), sys.argv[1], sys.stdin.buffer.read()))

"""A real ``initialize``: a server, a wrong key, nobody, and something else are told apart."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from honchod.gateway.mcp_probe import Finding, Probed, probe
from honchod.gateway.values import Endpoint

KEY = "k-secret"
RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18", "capabilities": {}}}
ENDED = web.AppKey("ended", list[str])
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def as_json(request: web.Request) -> web.StreamResponse:
    if request.headers.get("Authorization") != f"Bearer {KEY}":
        return web.json_response({"error": "unauthorized"}, status=401)
    if request.method == "DELETE":
        request.app[ENDED].append(request.headers["Mcp-Session-Id"])
        return web.Response(status=204)
    asked = await request.json()
    assert asked["method"] == "initialize"
    assert request.headers["X-Honcho-Workspace-ID"] == "w"
    return web.json_response(RESULT, headers={"Mcp-Session-Id": "session-1"})


async def as_events(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    event = web.json_response(RESULT).text
    await response.write(f": hello\r\nevent: message\r\ndata: {event}\r\n\r\n".encode())
    await asyncio.sleep(30)
    return response


async def page(request: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>welcome</html>", content_type="text/html")


async def moved(request: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"})


async def broken(request: web.Request) -> web.StreamResponse:
    return web.Response(status=503)


async def other_rpc(request: web.Request) -> web.StreamResponse:
    return web.json_response({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}})


def ask(handler: Handler, *, key: str | None = KEY) -> tuple[Probed, list[str]]:
    async def play() -> tuple[Probed, list[str]]:
        app = web.Application()
        app[ENDED] = []
        app.router.add_route("*", "/", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            return await probe(Endpoint(url, "w", key), timeout_s=5.0), app[ENDED]
        finally:
            await runner.cleanup()

    return asyncio.run(play())


def test_a_server_is_recognised_and_its_session_ended() -> None:
    assert ask(as_json) == (Probed(Finding.MCP, "http_200"), ["session-1"])


def test_an_answer_in_a_stream_that_stays_open_is_enough() -> None:
    assert ask(as_events)[0] == Probed(Finding.MCP, "http_200")


@pytest.mark.parametrize("key", [None, "another"])
def test_a_wrong_key_or_none_is_unauthorised(key: str | None) -> None:
    assert ask(as_json, key=key)[0] == Probed(Finding.UNAUTHORISED, "http_401")


@pytest.mark.parametrize("handler", [page, moved, other_rpc])
def test_what_answers_otherwise_is_no_mcp_server(handler: Handler) -> None:
    assert ask(handler)[0].finding is Finding.NOT_MCP


def test_a_broken_server_and_nobody_are_unreachable() -> None:
    assert ask(broken)[0] == Probed(Finding.UNREACHABLE, "http_503")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        found = asyncio.run(probe(Endpoint(url, "w", KEY), timeout_s=2.0))
    assert found == Probed(Finding.UNREACHABLE, "unreachable")


def test_one_that_speaks_no_http_is_no_mcp_server() -> None:
    async def play() -> Probed:
        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"SSH-2.0-OpenSSH\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await probe(Endpoint(f"http://127.0.0.1:{port}", "w", KEY), timeout_s=5.0)

    assert asyncio.run(play()) == Probed(Finding.NOT_MCP, "no_http")

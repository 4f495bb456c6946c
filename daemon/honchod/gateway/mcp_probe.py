"""Asking an MCP server whether it is one, as a client begins: ``initialize`` over streamable HTTP.

Honcho's MCP server has no ``/health``; and an answer to a plain GET would say nothing of the key.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

import honchod
from honchod.gateway.sdk import LOOPBACK, tls
from honchod.gateway.values import Endpoint

PROTOCOL: Final = "2025-06-18"
ANSWER_BYTES_MAX: Final = 65_536
_SESSION: Final = "Mcp-Session-Id"
_INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "honchod", "version": honchod.__version__},
    },
}


class Finding(StrEnum):
    """What sits at the URL."""

    MCP = "mcp"
    UNAUTHORISED = "unauthorised"
    """Something that does not accept the key (or wants one)."""
    UNREACHABLE = "unreachable"
    """Nobody answers, or not in time."""
    NOT_MCP = "not_mcp"
    """Something answers, but not as an MCP server does."""


@dataclass(frozen=True, slots=True)
class Probed:
    """``code`` is the status of the answer, or what kept it from coming; it is safe to show."""

    finding: Finding
    code: str


async def probe(endpoint: Endpoint, *, timeout_s: float) -> Probed:
    """Initialize a session at this URL, and end it again. Raises nothing that the server caused."""
    headers = {"Accept": "application/json, text/event-stream", "X-Honcho-Workspace-ID": endpoint.workspace}
    if endpoint.key is not None:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    try:
        async with (
            httpx.AsyncClient(
                verify=tls(),
                timeout=timeout_s,
                trust_env=urlsplit(endpoint.url).hostname not in LOOPBACK,
                follow_redirects=False,
            ) as client,
            client.stream("POST", endpoint.url, json=_INITIALIZE, headers=headers) as response,
        ):
            probed = await _judged(response)
            session = response.headers.get(_SESSION)
            if session is not None:
                await client.delete(endpoint.url, headers={**headers, _SESSION: session})
            return probed
    except httpx.TimeoutException:
        return Probed(Finding.UNREACHABLE, "timeout")
    except (httpx.RemoteProtocolError, httpx.DecodingError):
        return Probed(Finding.NOT_MCP, "no_http")
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
        return Probed(Finding.UNREACHABLE, "unreachable")


async def _judged(response: httpx.Response) -> Probed:
    code = f"http_{response.status_code}"
    if response.status_code in (401, 403):
        return Probed(Finding.UNAUTHORISED, code)
    if response.status_code != 200:
        # A server that is overloaded or broken is no less an MCP server, but nobody can tell.
        away = response.status_code == 429 or response.status_code >= 500
        return Probed(Finding.UNREACHABLE if away else Finding.NOT_MCP, code)
    return Probed(Finding.MCP if _is_initialized(await _first(response)) else Finding.NOT_MCP, code)


async def _first(response: httpx.Response) -> bytes:
    """The answer, or of a stream of events the data of the first; a stream may stay open for ever."""
    is_stream = response.headers.get("Content-Type", "").startswith("text/event-stream")
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > ANSWER_BYTES_MAX or (is_stream and _data(body) and body.endswith(b"\n")):
            break
    return _data(body) if is_stream else body


def _data(events: bytes) -> bytes:
    lines = events.replace(b"\r\n", b"\n").split(b"\n")
    return next((line[5:].strip() for line in lines[:-1] if line.startswith(b"data:")), b"")


def _is_initialized(body: bytes) -> bool:
    try:
        answer: Any = json.loads(body)
        return answer["jsonrpc"] == "2.0" and isinstance(answer["result"]["protocolVersion"], str)
    except (ValueError, TypeError, KeyError):
        return False

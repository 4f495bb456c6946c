"""A loop around the SDK that sends a backlog: no queue, no disk, no memory of what was sent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import uvloop
from honcho import Honcho
from honcho.api_types import MessageCreateParams, SessionPeerConfig
from honcho.base import PeerBase
from honcho.http import AsyncHonchoHTTPClient

from bench.texts import TEXTS

TIMEOUT_S = 60.0
NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Backlog:
    """So many sessions with so many messages each, one batch a session, sent by so many at once."""

    url: str
    workspace: str
    sessions: int
    messages: int
    at_once: int


def send(backlog: Backlog) -> float:
    """Send it all. Returns the seconds it took."""
    return uvloop.run(_send(backlog))


async def _send(backlog: Backlog) -> float:
    client = Honcho(api_key=NO_KEY, base_url=backlog.url, workspace_id=backlog.workspace, max_retries=0)
    client._async_http = AsyncHonchoHTTPClient(
        base_url=backlog.url, api_key=NO_KEY, max_retries=0, timeout=TIMEOUT_S
    )
    names = iter([f"s-{number}" for number in range(backlog.sessions)])
    started = time.perf_counter()
    await client.aio.get_metadata()
    await asyncio.gather(*(_work(client, names, backlog.messages) for _ in range(backlog.at_once)))
    return time.perf_counter() - started


async def _work(client: Honcho, names: Iterator[str], messages: int) -> None:
    peers: list[PeerBase | str | tuple[PeerBase | str, SessionPeerConfig]] = [
        ("ann", SessionPeerConfig(observe_me=True, observe_others=False)),
        ("bot", SessionPeerConfig(observe_me=True, observe_others=True)),
    ]
    for name in names:
        session = await client.aio.session(name, peers=peers)
        batch = [
            MessageCreateParams(
                content=TEXTS[number % len(TEXTS)],
                peer_id="ann",
                metadata={"honchod_id": f"{name}-{number}", "honchod_message": f"{name}-{number}"},
                created_at=datetime.now(UTC),
            )
            for number in range(messages)
        ]
        await session.aio.add_messages(batch)

"""A gateway for the length of one scenario."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from honchod.errors import CallFailed
from honchod.gateway.gateway import OWN_ID, Gateway
from honchod.gateway.values import Endpoint, Member, Outgoing
from honchod.sandbox import SandboxHandle

T = TypeVar("T")
CREATED_MS = 1_772_442_000_123
AL = Member("al", observe_me=True, observe_others=False)
BOT = Member("bot", observe_me=False, observe_others=True)


def talk(
    url: str,
    scenario: Callable[[Gateway], Awaitable[T]],
    *,
    key: str | None = None,
    timeout_s: float = 5.0,
    before: Callable[[], Awaitable[None]] | None = None,
) -> T:
    """Run the scenario with a gateway to workspace ``w`` of this server."""

    async def play() -> T:
        gateway = Gateway(Endpoint(url, "w", key), timeout_s=timeout_s, before=before)
        try:
            return await scenario(gateway)
        finally:
            await gateway.close()

    return asyncio.run(play())


def failure(
    url: str,
    scenario: Callable[[Gateway], Awaitable[object]],
    *,
    key: str | None = None,
    timeout_s: float = 5.0,
) -> CallFailed:
    """The failure in which the scenario ends."""

    async def play(gateway: Gateway) -> CallFailed:
        try:
            await scenario(gateway)
        except CallFailed as failed:
            return failed
        raise AssertionError("it did not fail")

    return talk(url, play, key=key, timeout_s=timeout_s)


def said(own: str, content: str = "", peer: str = "al") -> Outgoing:
    return Outgoing(peer, content or f"content of {own}", {OWN_ID: own, "k": 1}, CREATED_MS)


def asked(sandbox: SandboxHandle) -> list[str]:
    """Method and the end of the path of each request."""
    return [f"{record.method} {record.path.removeprefix('/v3/')}" for record in sandbox.requests()]

"""What a killed daemon still knows: answers and turns are on disk a little after they changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from recall_rig import LANE, Rig

from honchod.recall import keeper
from honchod.sandbox import running_sandbox
from support.network import Network, running_network

BOUND_S = 30.0
WAIT_MS = 20_000


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    """The way to a server, for a daemon that keeps what changed sooner than is usual."""
    monkeypatch.setattr(keeper, "FLUSH_S", 0.05)
    with running_sandbox() as sandbox, running_network(sandbox.url) as network:
        yield network


async def kept(wanted: object, look: Callable[[], Awaitable[object]]) -> None:
    """Wait until this is what the disk holds."""
    deadline = time.monotonic() + BOUND_S
    while (found := await look()) != wanted:
        assert time.monotonic() < deadline, f"the disk holds {found}, not {wanted}"
        await asyncio.sleep(0.02)


def test_each_turn_is_kept_without_a_stop(network: Network, tmp_path: Path) -> None:
    async def story() -> None:
        async with Rig(network, tmp_path / "state") as rig:

            async def turns() -> int:
                return (await rig.outbox.recall.turns_of(LANE)).turns

            for ended in (1, 2, 3):
                await rig.turn()
                await kept(ended, turns)

    asyncio.run(story())


def test_an_answer_is_kept_and_dropped_without_a_stop(network: Network, tmp_path: Path) -> None:
    async def story() -> None:
        async with Rig(network, tmp_path / "state") as rig:

            async def answers() -> set[bool]:
                """Whether they are old."""
                return {row.old for row in await rig.outbox.recall.answers(10)}

            route = rig.directory.route("h")
            assert route is not None
            await rig.recall(wait_ms=WAIT_MS)
            await kept({False}, answers)
            for session in ("s", ""):
                rig.recaller._cache.age((route.destination, "w", session))
            await kept({True}, answers)
            rig.recaller._cache.drop(route.destination, "w")
            await kept(set(), answers)
            await rig.recall(wait_ms=WAIT_MS)
            await kept({False}, answers)

    asyncio.run(story())

"""Watching Honcho derive, with a real server behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from honchod.clock import SystemClock
from honchod.delivery.circuit import Circuit, CircuitState
from honchod.delivery.retry import Policy
from honchod.delivery.routes import Route
from honchod.gateway.pool import GatewayPool
from honchod.identity import config
from honchod.outbox.values import LaneKey
from honchod.recall import freshness, watch
from honchod.recall.gate import Gates
from honchod.recall.turns import Turns
from honchod.recall.watch import Watcher
from honchod.recall.webhook import Derived
from honchod.sandbox import Behaviour, SandboxHandle, running_sandbox
from support.honcho import Remote

S, T = LaneKey("h", "w", "s"), LaneKey("h", "w", "t")


@pytest.fixture
def sandbox() -> Iterator[SandboxHandle]:
    """A server that takes a second to derive."""
    with running_sandbox(behaviour=Behaviour(derive_delay_s=1.0)) as sandbox:
        yield sandbox


@dataclass
class Rig:
    """A watcher of one host, and what it said."""

    sandbox: SandboxHandle
    circuit: Circuit = field(default_factory=lambda: Circuit(4))
    learned: list[LaneKey] = field(default_factory=list)

    def __post_init__(self) -> None:
        clock = SystemClock()
        hosts = config.parse(
            {"hosts": {"h": {"baseUrl": self.sandbox.url, "workspace": "w"}}},
            {},
            read_key=str,
            credential=None,
        )
        route = Route(hosts["h"], "d")
        self.turns = Turns(clock)
        self.pool = GatewayPool(timeout_s=5, rate=lambda _: 0.0, clock=clock)
        self.watcher = Watcher(
            self.pool,
            Gates(lambda _: self.circuit, lambda: Policy(), clock),
            self.turns,
            route_of={"h": route}.get,
            learned=lambda lane, _: self.learned.append(lane),
            clock=clock,
        )

    async def __aenter__(self) -> Rig:
        self.watcher.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.watcher.close()
        await self.pool.close()

    def deliver(self, lane: LaneKey) -> None:
        """Honcho has one more message of this session."""
        message = {"messages": [{"peer_id": "ann", "content": "hello"}]}
        path = f"/v3/workspaces/w/sessions/{lane.session}/messages"
        Remote(self.sandbox.url).ask("POST", path, message)
        self.watcher.delivered(lane, 1)

    def looks(self) -> int:
        """How often the queue was looked at."""
        return sum(record.path.endswith("/queue/status") for record in self.sandbox.requests())

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something to hold."""
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(0.01)


def test_a_session_is_watched_until_everything_is_derived(sandbox: SandboxHandle) -> None:
    async def main() -> None:
        async with Rig(sandbox) as rig:
            rig.deliver(S)
            assert dict(rig.turns.underived) == {"h": 1}
            await rig.until(lambda: rig.watcher.watched == 0)
            assert rig.learned == [S]
            assert dict(rig.turns.underived) == {"h": 0}
            assert 1 <= rig.looks() <= 4

    asyncio.run(main())


def test_an_event_brings_the_look_forward(sandbox: SandboxHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "FIRST_POLL_S", 1_000.0)
    monkeypatch.setattr(freshness, "LONGEST_POLL_S", 1_000.0)

    async def main() -> None:
        async with Rig(sandbox) as rig:
            rig.deliver(S)
            rig.deliver(T)
            rig.watcher.told(Derived("elsewhere", "s"))
            rig.watcher.told(Derived("w", "s"))
            await rig.until(lambda: rig.looks() == 1)
            await asyncio.sleep(1.1)
            rig.watcher.told(Derived("w", "an id that Honcho made"))
            await rig.until(lambda: rig.watcher.watched == 0)
            assert set(rig.learned) == {S, T}
            assert rig.looks() == 3

    asyncio.run(main())


def test_nobody_looks_while_the_destination_is_away(
    sandbox: SandboxHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "FIRST_POLL_S", 0.05)
    monkeypatch.setattr(watch, "SHUT_S", 0.1)

    async def main() -> None:
        async with Rig(sandbox) as rig:
            rig.circuit = Circuit(4, CircuitState.HALF_OPEN)
            rig.deliver(S)
            await asyncio.sleep(0.5)
            assert rig.looks() == 0
            rig.circuit = Circuit(4)
            await rig.until(lambda: rig.watcher.watched == 0)

    asyncio.run(main())


def test_looking_ends_when_it_leads_nowhere_and_nothing_counts_as_derived(
    sandbox: SandboxHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "FIRST_POLL_S", 0.01)
    monkeypatch.setattr(freshness, "LONGEST_POLL_S", 0.01)
    monkeypatch.setattr(freshness, "POLLS_MAX", 3)
    sandbox.add_faults("GET queue/status: status=500")

    async def main() -> None:
        async with Rig(sandbox) as rig:
            rig.deliver(S)
            await rig.until(lambda: rig.watcher.watched == 0)
            assert rig.looks() == 3
            assert rig.learned == []
            assert dict(rig.turns.underived) == {"h": 1}

    asyncio.run(main())


def test_only_so_many_sessions_are_watched_the_latest_ones(
    sandbox: SandboxHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "WATCHED_MAX", 1)

    async def main() -> None:
        async with Rig(sandbox) as rig:
            rig.deliver(S)
            rig.deliver(T)
            assert rig.watcher.watched == 1
            await rig.until(lambda: rig.watcher.watched == 0)
            assert rig.learned == [T]

    asyncio.run(main())

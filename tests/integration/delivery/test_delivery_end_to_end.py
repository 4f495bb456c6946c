"""The worker with the real SDK, over HTTP, against the sandbox: everything arrives once and in order."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from honchod.clock import SystemClock
from honchod.delivery.retry import Policy
from honchod.delivery.routes import routes
from honchod.delivery.worker import Worker, WorkerSettings
from honchod.gateway.pool import GatewayPool
from honchod.identity import config
from honchod.outbox.store import Outbox
from honchod.outbox.values import Append, Bounds, LaneKey, LeaseTerms, NewEvent
from honchod.sandbox import Behaviour, SandboxHandle, running_sandbox

BOUND_S = 60.0
SESSIONS = 4
MESSAGES = 30
SETTINGS = WorkerSettings(
    policy=Policy(backoff_base_s=0.05, backoff_cap_s=0.2, settle_delay_s=0.5),
    terms=LeaseTerms(batch_max=5),
    concurrency=4,
    request_timeout_s=1.0,
)


@pytest.fixture
def sandbox() -> Iterator[SandboxHandle]:
    with running_sandbox(behaviour=Behaviour(derive_delay_s=0.0)) as handle:
        yield handle


def no_file(name: str) -> str:
    raise ValueError(name)


def said(content: str) -> NewEvent:
    digest = hashlib.sha256(content.encode()).digest()
    return NewEvent(f"id {content}", (content,), "al", "user", "human", 1_772_442_000_000, digest)


def deliver(sandbox: SandboxHandle, state_dir: Path, contents: list[str]) -> dict[str, int]:
    """Write these into each session and work until nothing waits. Returns the counts by state."""
    document = {
        "baseUrl": sandbox.url,
        "hosts": {"h": {"workspace": "w", "peerName": "al", "aiPeer": "bot"}},
    }
    hosts = config.parse(document, {}, read_key=no_file, credential=None)

    async def play() -> dict[str, int]:
        clock = SystemClock()
        outbox = Outbox.open(state_dir, bounds=Bounds(), clock=clock)
        pool = GatewayPool(timeout_s=1.0, rate=lambda _url: 0.0, clock=clock)
        worker = Worker(outbox, pool, SETTINGS, clock=clock, random=Random(5))
        await worker.open()
        await worker.use([routes(hosts, b"salt")["h"]])
        working = asyncio.create_task(worker.run())
        for content in contents:
            for n in range(SESSIONS):
                await outbox.append(Append(LaneKey("h", "w", f"s{n}"), (said(content),), 1000))
                worker.notify()
        async with asyncio.timeout(BOUND_S):
            while (await outbox.overview()).counts.queued:
                await worker.settled()
        await worker.stop(5.0)
        await working
        counts = (await outbox.overview()).counts
        await pool.close()
        await outbox.close()
        return {"delivered": counts.delivered, "dead": counts.dead}

    return asyncio.run(play())


@pytest.mark.parametrize(
    "faults",
    [
        "",
        "POST messages: cut-after-commit p=0.15 seed=1",
        "POST messages: cut-commit-late=0.2 p=0.1 seed=2",
        "*: cut-before-commit p=0.1 seed=3",
        "*: status-after-commit=502 p=0.1 seed=4; *: status=500 p=0.05 seed=5",
        "*: status=429 retry-after=0 p=0.1 seed=6; *: portal p=0.05 seed=7",
        "POST messages: partial p=0.1 seed=8; POST messages/list: cut-after-commit p=0.3 seed=9",
        "POST messages/list content=honchod_id: status=422; POST messages: cut-after-commit p=0.1 seed=10",
        "*: down=0.3 nth=12",
    ],
)
def test_whatever_the_network_does_each_session_holds_each_message_once_and_in_order(
    sandbox: SandboxHandle, tmp_path: Path, faults: str
) -> None:
    contents = [f"m{n}" for n in range(MESSAGES)]
    if faults:
        sandbox.add_faults(faults)
    assert deliver(sandbox, tmp_path / "state", contents) == {"delivered": MESSAGES * SESSIONS, "dead": 0}
    for n in range(SESSIONS):
        assert [message.content for message in sandbox.messages("w", f"s{n}")] == contents
    assert max(record.in_flight for record in sandbox.requests()) == 1


def test_a_message_that_honcho_refuses_dies_alone(sandbox: SandboxHandle, tmp_path: Path) -> None:
    contents = [f"m{n}" for n in range(7)]
    contents.insert(3, "<|endoftext|>")
    assert deliver(sandbox, tmp_path / "state", contents) == {"delivered": 7 * SESSIONS, "dead": SESSIONS}
    for n in range(SESSIONS):
        stored = [message.content for message in sandbox.messages("w", f"s{n}")]
        assert stored == [content for content in contents if content.startswith("m")]

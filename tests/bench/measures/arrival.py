"""How long one message is on its way when nothing else happens: from its ack to its arrival at the server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from bench.rig import Rig, daemon
from bench.rows import Result, at_most, counted
from bench.texts import TEXTS
from honchod.sandbox.thread import SandboxHandle, running_sandbox
from support.waiting import wait_until

WORKSPACE: Final = "arrival"
WARM: Final = "warm"


def measure(rig: Rig) -> Iterator[Result]:
    """The server answers at once: all there is, is the daemon's own and the way there."""
    old: list[float] = []
    new: list[float] = []
    with running_sandbox() as server, daemon(server.url, WORKSPACE) as ours, ours.client() as client:
        client.write([{"content": TEXTS[0]}], session=WARM)
        _arrived_s(server, WARM, 1)
        for number in range(rig.plan.arrivals):
            for session, messages, times in ((WARM, number + 2, old), (f"new-{number}", 1, new)):
                ours.wait_for_delivery()
                client.write([{"content": TEXTS[number % len(TEXTS)]}], session=session)
                acked_s = time.monotonic()
                times.append(max(0.0, _arrived_s(server, session, messages) - acked_s) * 1000)
    yield counted(
        "one message, idle: from ack to arrival, on top of the server's latency", "ms", old, at_most(20.0)
    )
    yield counted(
        "the same, first message of a session (the session is made first)", "ms", new, at_most(20.0)
    )


def _arrived_s(server: SandboxHandle, session: str, messages: int) -> float:
    """When so many messages of a session had arrived (monotonic)."""

    def found() -> float | None:
        arrived = [one.received_s for one in server.requests() if one.session == session and one.messages]
        return arrived[messages - 1] if len(arrived) >= messages else None

    return wait_until(found, "the message to arrive") or 0.0

"""How fast a backlog is delivered, against a loop around the SDK that keeps nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

from bench.rig import Rig, daemon, honcho
from bench.rows import Result, at_least, compared
from bench.spread import Pair
from bench.texts import TEXTS
from bench.yardsticks.sdk_loop import Backlog, send
from support.daemon import DaemonProcess

LATENCY_S: Final = 0.05
AT_ONCE: Final = 4
"""The daemon's own default, and what Honcho bears well."""
BATCH_MAX: Final = 100
DRAIN_S: Final = 600.0


def measure(rig: Rig) -> Iterator[Result]:
    """Each round has workspaces of its own on one server that takes 50 ms for a request."""
    plan = rig.plan
    messages = plan.backlog // plan.backlog_sessions
    assert messages <= BATCH_MAX, "the loop sends a session in one batch"
    pairs = []
    with honcho(LATENCY_S) as url, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        for number in range(plan.backlog_rounds):
            with daemon(url, f"ours-{number}", paused=True) as ours:
                _fill(ours, plan.backlog_sessions, messages)
                ours_s = _drain(ours)
            loop = Backlog(url, f"loop-{number}", plan.backlog_sessions, messages, AT_ONCE)
            loop_s = process.submit(send, loop).result()
            pairs.append(Pair(plan.backlog / ours_s, plan.backlog / loop_s))
    what = f"delivery of {plan.backlog:,} in {plan.backlog_sessions} sessions, 50 ms latency"
    yield compared(what, "bare SDK loop, same batches and concurrency", "/s", pairs, at_least(0.9))


def _fill(ours: DaemonProcess, sessions: int, messages: int) -> None:
    with ours.client() as client:
        for session in range(sessions):
            said = [{"content": TEXTS[number % len(TEXTS)]} for number in range(messages)]
            client.write(said, session=f"s-{session}")


def _drain(ours: DaemonProcess) -> float:
    """Deliver all. Returns the seconds it took."""
    with ours.client(timeout_s=DRAIN_S) as client:
        started = time.perf_counter()
        client.call("POST", "/v1/worker/resume")
        drained = client.call("POST", "/v1/worker/drain", {"timeout_s": DRAIN_S})
        elapsed_s = time.perf_counter() - started
    assert drained["drained"], drained
    return elapsed_s

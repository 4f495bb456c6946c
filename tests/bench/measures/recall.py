"""A recall from memory, against the least that an answer of its size costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from statistics import median
from typing import Final

from bench.dialects import Echo, Fixed
from bench.load import Caller
from bench.rig import Rig, daemon, honcho
from bench.rows import Result, at_most, compared
from bench.spread import Pair
from bench.texts import TEXTS
from bench.yardsticks.servers import running_server
from support.daemon import DaemonProcess
from support.waiting import wait_until

WHAT: Final = "hot recall, p50"
SESSION: Final = "remembered"
RECALL: Final = Fixed("POST", "/v1/recall", json.dumps({"session": SESSION}).encode())
WAIT_MS: Final = 5_000


def measure(rig: Rig) -> Iterator[Result]:
    """One caller, in turn with each of three servers that answer with the same bytes."""
    bare_pairs, echo_pairs = [], []
    with honcho() as url, daemon(url) as ours, rig.scratch() as directory:
        remember(ours)
        with closing(Caller(str(ours.socket), RECALL)) as recall:
            recall.call()
            body = recall.last_answer.partition(b"\r\n\r\n")[2]
            with (
                running_server("bare", directory, body) as bare_socket,
                running_server("echo", directory, b"") as echo_socket,
                closing(Caller(bare_socket, RECALL)) as bare,
                closing(Caller(echo_socket, Echo(recall.last_answer))) as echo,
            ):
                for _ in range(rig.plan.rounds):
                    ours_ms = _median_ms(recall, rig.plan.calls)
                    bare_pairs.append(Pair(ours_ms, _median_ms(bare, rig.plan.calls)))
                    echo_pairs.append(Pair(ours_ms, _median_ms(echo, rig.plan.calls)))
    note = f"{len(body)} bytes"
    yield compared(WHAT, "bare aiohttp handler, same bytes", "ms", bare_pairs, at_most(1.3), note=note)
    yield compared(WHAT, "uvloop echo, same bytes", "ms", echo_pairs, at_most(4.0), note=note)


def remember(ours: DaemonProcess) -> None:
    """Have Honcho learn something, and the daemon know it."""
    with ours.client() as client:
        client.write([{"content": text} for text in TEXTS], session=SESSION)
        ours.wait_for_delivery()
        wait_until(
            lambda: client.recall(session=SESSION, recall_wait_ms=WAIT_MS).text, "something to remember"
        )
        wait_until(lambda: client.recall(session=SESSION).status == "fresh", "a fresh memory")


def _median_ms(caller: Caller, calls: int) -> float:
    return median(caller.call() for _ in range(calls)) * 1000

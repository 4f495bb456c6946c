"""A hundred thousand messages that wait make no recall wait for them.

What is counted is whose requests reach the server first, so that it holds on a busy machine too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from known import Known

from support.backlog import fill
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Exchange, Network
from support.waiting import wait_until

BACKLOG = 100_000
SESSIONS = 1_000
CONCURRENCY = 4
RECALLS = 5
WAIT_MS = 60_000


@pytest.fixture
def known(remote: Remote, workspace: str) -> Known:
    """A session in which something is known of ann."""
    known = Known(remote, workspace)
    known.session("asked")
    known.concludes("Ann lives in Lisbon.", session="asked")
    return known


def is_read(one: Exchange) -> bool:
    return one.path.endswith(("/context", "/representation"))


@pytest.mark.parametrize(
    ("delivery", "ahead_max"),
    [
        # A request takes as long as its own: each lane begins one or two meanwhile. The rest is grace.
        pytest.param({"concurrency": CONCURRENCY}, 5 * CONCURRENCY, id="unlimited"),
        # Its own take the next slots.
        pytest.param({"requests_per_s": 5}, 4, id="five a second"),
    ],
)
def test_a_waiting_recall_costs_one_request_whatever_waits(
    known: Known,
    workspace: str,
    make_daemon: Callable[..., DaemonProcess],
    network: Network,
    delivery: dict[str, Any],
    ahead_max: int,
) -> None:
    """Between a recall and its answer only so many requests of the backlog are begun, however long it is."""
    daemon = make_daemon(settings={"outbox": {"max_rows": 10 * BACKLOG}, "delivery": delivery})
    daemon.start().stop()
    fill(daemon.database, BACKLOG, SESSIONS, workspace=workspace)
    network.hit("*: delay=0.1")
    daemon.start()
    wait_until(lambda: len(network.sent()) >= CONCURRENCY, "the backlog to be on its way", timeout_s=60)
    begun: list[int] = []
    with daemon.client(timeout_s=90) as client:
        for number in range(RECALLS):
            asked_at_s = time.monotonic()
            recalled = client.recall(
                f"where did Ann live in {1990 + number}?",
                session="asked",
                sections=["user_representation"],
                recall_wait_ms=WAIT_MS,
            )
            assert recalled.status == "fresh"
            assert recalled.query_matched
            since = [one for one in network.seen() if one.at_s >= asked_at_s]
            answers_s = [one.answered_s for one in since if is_read(one)]
            assert answers_s, "the recall asked the server itself"
            until_s = max(at_s for at_s in answers_s if at_s is not None)
            begun.append(sum(one.at_s <= until_s for one in since if not is_read(one)))
        pending = client.status()["queue"]["pending"]
    assert pending > BACKLOG // 2, "the backlog was there all the time"
    assert max(begun) <= ahead_max, begun

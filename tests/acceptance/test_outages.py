"""Servers that are away or overrun, for long: nothing dies of it, and nothing stampedes when it is over.

What lasts for days is in tests/model, in virtual time.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Exchange, Network, widths
from support.waiting import wait_until

SESSIONS = 24
EACH = 5
CONCURRENCY = 4

OUTAGES = {
    "refused connections": None,
    "503": "*: status=503",
    "429": "*: status=429 retry-after=0",
    "429 without a word": "*: status=429",
    "502 of a proxy": "*: status=502",
    "409 of a workspace that is not made yet": "*: status=409",
}


def message(number: int) -> dict[str, Any]:
    return {"id": f"m{number}", "content": f"message {number}"}


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_spends_no_attempt_and_ends_in_a_paced_drain(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str, outage: str
) -> None:
    """Many more failures than `max_attempts`; then one lane alone, and never more than the concurrency."""
    fault = OUTAGES[outage]
    daemon.configure(
        {
            "delivery": {
                "max_attempts": 1,
                "backoff_cap_s": 0.15,
                "concurrency": CONCURRENCY,
                "settle_delay_s": 0.1,
            }
        }
    )
    if fault is None:
        network.take_down()
    else:
        network.hit(fault)
    with daemon.start().client() as client:
        for session in range(SESSIONS):
            client.write([message(number) for number in range(EACH)], session=f"s{session}")
        wait_until(lambda: len(daemon.events("batch.failed")) >= 20, "twenty failures", timeout_s=60)
        assert client.status()["queue"]["pending"] == SESSIONS * EACH
        assert client.letters()["total"] == 0
        assert client.health()["status"] == "ok"
        before = len(network.sent())
        network.heal()
        network.hit("POST messages: delay=0.05")
        client.wake()
        daemon.wait_for_delivery()
        assert client.letters()["total"] == 0
    assert max(widths(network.sent()[before:])) <= CONCURRENCY
    for session in range(SESSIONS):
        contents = remote.contents(workspace, f"s{session}")
        assert contents == [f"message {number}" for number in range(EACH)]


def test_after_an_outage_one_lane_goes_first(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """No herd: the second request of a drain comes after the answer to the first batch."""
    daemon.configure({"delivery": {"backoff_cap_s": 0.3}})
    network.take_down()
    with daemon.start().client() as client:
        for session in range(SESSIONS):
            client.write([message(0)], session=f"s{session}")
        wait_until(lambda: len(daemon.events("batch.failed")) >= 5, "some failures")
        network.heal()
        network.hit("POST messages: delay=0.3")
        daemon.wait_for_delivery()
    sent = sorted(network.sent(), key=lambda one: one.at_s)
    first = sent[0]
    assert first.answered_s is not None
    assert all(one.at_s >= first.answered_s for one in sent[1:])
    # Then one more, then two together, then all that may be.
    assert max(widths(sent)[:2]) == 1
    assert max(widths(sent)[:4]) <= 2
    assert max(widths(sent)) <= CONCURRENCY
    for session in range(SESSIONS):
        assert len(remote.messages(workspace, f"s{session}")) == 1


PATIENCE_S = 3


def test_a_destination_that_asks_for_patience_is_left_alone_by_all_its_lanes(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """Its answer to one lane holds for all: only those that are on their way by then still come."""
    network.hit(f"*: status=429 retry-after={PATIENCE_S}")
    with daemon.start().client() as client:
        for session in range(SESSIONS):
            client.write([message(0)], session=f"s{session}")

        def asked(*, again: bool) -> list[Exchange]:
            """Requests within the time that the first answer asked for, or those after it."""
            seen = network.seen()
            until_s = (seen[0].answered_s or math.inf) + PATIENCE_S
            return [one for one in seen if (one.at_s >= until_s) == again]

        # Not before it asks again: a request that is under way may not meet a healed server.
        wait_until(lambda: asked(again=True), "it to be asked again")
        network.heal()
        daemon.wait_for_delivery()
        assert client.letters()["total"] == 0
    patient = asked(again=False)
    assert [one.status for one in patient] == [429] * len(patient)
    assert len(patient) <= CONCURRENCY
    for session in range(SESSIONS):
        assert len(remote.messages(workspace, f"s{session}")) == 1

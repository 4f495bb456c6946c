"""Clocks that jump, and a laptop that sleeps: delivery goes on within one backoff.

The clock of the process is really another one: libfaketime stands between it and the kernel.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from support.daemon import QUICK, DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until

LIBRARIES = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/local/lib/faketime/libfaketime.so.1")
JUMPS = {"a day back": "-1d", "two days ahead": "+2d"}
GRACE_S = 45.0
"""One backoff is at most 0.5 s here, and the outbox is looked after every second. The rest is for a machine
that is busy with other tests.
"""


def message(number: int) -> dict[str, Any]:
    return {"id": f"m{number}", "content": f"message {number}"}


class WallClock:
    """The wall clock of a daemon; its monotonic clock is left alone."""

    def __init__(self, daemon: DaemonProcess) -> None:
        found = [path for pattern in LIBRARIES for path in Path("/").glob(pattern[1:])]
        if not found:
            pytest.skip("libfaketime is not installed (Debian: apt-get install libfaketime)")
        self._file = daemon.directory / "clock"
        self.set("+0")
        daemon.environ |= {
            "LD_PRELOAD": str(found[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, offset: str) -> None:
        """So far from the real time, as libfaketime says it."""
        self._file.write_text(f"{offset}\n")


@pytest.fixture
def clock(daemon: DaemonProcess) -> WallClock:
    return WallClock(daemon)


@pytest.mark.parametrize("jump", JUMPS)
def test_a_wall_clock_that_jumps_stalls_nothing(
    daemon: DaemonProcess,
    clock: WallClock,
    network: Network,
    remote: Remote,
    workspace: str,
    jump: str,
) -> None:
    """With a lane in backoff, one in doubt, one in flight, and a destination that waits."""
    network.hit("POST messages session=backoff: status=404")
    network.hit("POST messages session=doubt: hang-after-commit times=1")
    network.hit("POST messages session=flight: delay=4 times=1")
    daemon.configure({"delivery": {"request_timeout_s": 8.0}})
    with daemon.start().client() as client:
        for session in ("backoff", "doubt", "flight"):
            client.write([message(0)], session=session)
        wait_until(lambda: len([one for one in network.sent("doubt") if one.forwarded]) == 1, "a doubt")
        wait_until(lambda: daemon.events("batch.failed"), "a lane in backoff")
        clock.set(JUMPS[jump])
        day = daemon.events("daemon.ready")[-1]["timestamp"][:10]

        def jumped() -> bool:
            client.write([{"content": "what time is it?"}], session="clock")
            return bool(daemon.events("messages.taken")[-1]["timestamp"][:10] != day)

        wait_until(jumped, "the clock to jump")
        for session in ("backoff", "doubt", "flight"):
            client.write([message(1)], session=session)
        network.heal()
        daemon.wait_for_delivery(GRACE_S)
        network.hit("POST messages: status=503 times=1")
        client.write([message(2)], session="backoff")
        wait_until(lambda: network.sent("backoff")[-1].status == 503, "the destination to be away")
        clock.set("+0")
        daemon.wait_for_delivery(GRACE_S)
        assert client.letters()["total"] == 0
        assert client.health()["status"] == "ok"
    for session, count in (("backoff", 3), ("doubt", 2), ("flight", 2)):
        assert remote.contents(workspace, session) == [f"message {number}" for number in range(count)]


def test_a_clock_that_jumps_while_nothing_runs_stalls_nothing(
    daemon: DaemonProcess, clock: WallClock, network: Network, remote: Remote, workspace: str
) -> None:
    """What was scheduled by a clock that was days ahead is not waited for."""
    network.hit("POST messages: status=404")
    clock.set("+5d")
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
        wait_until(lambda: daemon.events("batch.failed"), "a lane in backoff")
    daemon.kill()
    network.heal()
    clock.set("+0")
    daemon.start().wait_for_delivery(GRACE_S)
    assert remote.contents(workspace, "s") == ["message 0"]


def test_the_end_of_summer_time_changes_nothing(
    daemon: DaemonProcess, clock: WallClock, network: Network, remote: Remote, workspace: str
) -> None:
    """Local time goes back an hour in the middle of a backoff; created_at stays in order."""
    daemon.environ["TZ"] = "America/New_York"
    # An absolute time with a start at it: seconds before 06:00 UTC on the first Sunday of November.
    clock.set("@2026-11-01 01:59:56")
    network.hit("POST messages: status=404")
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
        wait_until(lambda: daemon.events("batch.failed"), "a lane in backoff")
        wait_until(
            lambda: any("T06:00:0" in line["timestamp"] for line in daemon.events("batch.failed")),
            "the hour to strike",
        )
        client.write([message(1)], session="s")
        network.heal()
        daemon.wait_for_delivery(GRACE_S)
    messages = remote.messages(workspace, "s")
    assert [one["content"] for one in messages] == ["message 0", "message 1"]
    times = [one["created_at"] for one in messages]
    assert times == sorted(times)
    assert all("2026-11-01T0" in at for at in times)


def test_a_laptop_that_sleeps_in_the_middle_of_a_request_sends_nothing_twice(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """Stopped for longer than the request timeout, and than the settle delay."""
    daemon.configure({"delivery": {"request_timeout_s": 1.0, "settle_delay_s": 1.5}})
    network.hit("POST messages: hang-after-commit times=1")
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
        wait_until(lambda: [one for one in network.sent() if one.forwarded], "the message to be stored")
        daemon.signal(signal.SIGSTOP)
        stopped = time.monotonic()
        wait_until(lambda: time.monotonic() - stopped > 3, "a nap")
        daemon.signal(signal.SIGCONT)
        client.write([message(1)], session="s")
        daemon.wait_for_delivery(GRACE_S)
    assert remote.contents(workspace, "s") == ["message 0", "message 1"]


PAST: dict[str, Callable[[], str]] = {
    "an hour ago": lambda: formatdate(time.time() - 3600, usegmt=True),
    "the epoch": lambda: "Thu, 01 Jan 1970 00:00:00 GMT",
}


@pytest.mark.parametrize("date", PAST)
def test_a_retry_after_in_the_past_counts_as_none(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str, date: str
) -> None:
    network.hit(f'POST messages: status=429 retry-after="{PAST[date]()}" times=1')
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
    daemon.wait_for_delivery()
    first, second = network.sent()
    assert first.answered_s is not None
    assert second.at_s - first.answered_s < QUICK["delivery"]["backoff_cap_s"] + 5
    assert remote.contents(workspace, "s") == ["message 0"]

"""Clocks that jump, and a laptop that sleeps: delivery goes on within one backoff.

The clock of the process is really another one: see support/wall_clock.py.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from email.utils import formatdate
from typing import Any

import pytest

from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until
from support.wall_clock import DAY_S, WallClock, compiler

JUMPS = {"a day back": -1, "two days ahead": 2}
"""In days."""
SUMMER_TIME_ENDS_S = datetime(2026, 11, 1, 6, tzinfo=UTC).timestamp()
"""In New York: 02:00 becomes 01:00."""
LONG_BACKOFF = {"backoff_base_s": 10.0, "backoff_cap_s": 10.0}
"""So long that a lane is in backoff when the clock jumps, and not in flight again."""
GRACE_S = 45.0
"""One such backoff, and time for a machine that is busy with other tests."""


def message(number: int) -> dict[str, Any]:
    return {"id": f"m{number}", "content": f"message {number}"}


def both(messages: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    return messages if len(messages) == 2 else None


def day(at: str) -> date:
    return date.fromisoformat(at[:10])


@pytest.fixture
def clock(daemon: DaemonProcess) -> WallClock:
    """The wall clock of the daemon, from its next start on."""
    if compiler() is None:
        pytest.skip("a clock that can be turned needs a C compiler (Debian: apt-get install gcc libc6-dev)")
    clock = WallClock(daemon.directory, daemon.environ)
    if not clock.works():
        pytest.skip("the loader of this system takes no library from the directory for temporary files")
    return clock


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
    daemon.configure({"delivery": {"request_timeout_s": 8.0, **LONG_BACKOFF}})
    with daemon.start().client() as client:
        for session in ("backoff", "doubt", "flight"):
            client.write([message(0)], session=session)
        wait_until(lambda: len([one for one in network.sent("doubt") if one.forwarded]) == 1, "a doubt")
        wait_until(lambda: daemon.events("batch.failed"), "a lane in backoff")
        client.write([{"content": "before"}], session="clock")
        wait_until(lambda: remote.messages(workspace, "clock"), "a healthy session")
        clock.turn(JUMPS[jump] * DAY_S)
        # It says nothing of its time, so that the daemon's clock tells it.
        client.write([{"content": "after"}], session="clock")
        before, after = wait_until(lambda: both(remote.messages(workspace, "clock")), "both of them")
        jumped = day(after["created_at"]) - day(before["created_at"])
        # A midnight may have come between the two.
        assert JUMPS[jump] <= jumped.days <= JUMPS[jump] + 1
        for session in ("backoff", "doubt", "flight"):
            client.write([message(1)], session=session)
        network.heal()
        daemon.wait_for_delivery(GRACE_S)
        network.hit("POST messages: status=503 times=1")
        client.write([message(2)], session="backoff")
        wait_until(lambda: network.sent("backoff")[-1].status == 503, "the destination to be away")
        clock.turn(0)
        daemon.wait_for_delivery(GRACE_S)
        assert client.letters()["total"] == 0
        assert client.health()["status"] == "ok"
    for session, count in (("backoff", 3), ("doubt", 2), ("flight", 2)):
        assert remote.contents(workspace, session) == [f"message {number}" for number in range(count)]


def test_a_clock_that_jumps_while_nothing_runs_stalls_nothing(
    daemon: DaemonProcess, clock: WallClock, network: Network, remote: Remote, workspace: str
) -> None:
    """What was scheduled by a clock that was days ahead is not waited for."""
    daemon.configure({"delivery": LONG_BACKOFF})
    network.hit("POST messages: status=404")
    clock.turn(5 * DAY_S)
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
        wait_until(lambda: daemon.events("batch.failed"), "a lane in backoff")
    daemon.kill()
    network.heal()
    clock.turn(0)
    daemon.start().wait_for_delivery(GRACE_S)
    assert remote.contents(workspace, "s") == ["message 0"]


def test_the_end_of_summer_time_changes_nothing(
    daemon: DaemonProcess, clock: WallClock, network: Network, remote: Remote, workspace: str
) -> None:
    """Local time goes back an hour in the middle of a backoff; created_at stays in order."""
    daemon.environ["TZ"] = "America/New_York"
    clock.turn_to(SUMMER_TIME_ENDS_S - 600)
    network.hit("POST messages: status=404")
    with daemon.start().client() as client:
        client.write([message(0)], session="s")
        wait_until(lambda: daemon.events("batch.failed"), "a lane in backoff")
        clock.turn_to(SUMMER_TIME_ENDS_S - 1)
        wait_until(
            lambda: daemon.events("batch.failed")[-1]["timestamp"] > "2026-11-01T06:00", "the hour to strike"
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
    assert [one.status for one in network.sent()] == [429, 201]
    assert remote.contents(workspace, "s") == ["message 0"]

"""Messages that break what they touch: only they end in the dead letters, and nobody waits for them."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until

BATCH = 100
BAD = (17, 18, 71)


def message(number: int, content: str | None = None) -> dict[str, Any]:
    return {"id": f"m{number}", "content": content or f"message {number}."}


def texts(count: int, *, but: tuple[int, ...] = ()) -> list[str]:
    return [f"message {number}." for number in range(count) if number not in but]


def write_at_once(daemon: DaemonProcess, count: int) -> None:
    """So many messages of one session, that go out as one batch."""
    with daemon.client() as client:
        client.pause()
        client.write([message(number) for number in range(count)], session="s")
        client.resume()


def test_three_bad_messages_of_a_hundred_are_found_in_few_requests(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """Each is refused with 422: halved, not tried one by one; the others arrive in order."""
    for number in BAD:
        network.hit(f'POST messages content="message {number}.": status=422')
    write_at_once(daemon.start(), BATCH)
    daemon.wait_for_delivery()
    with daemon.client() as client:
        letters = client.letters()["items"]
    assert [letter["message_id"] for letter in letters] == [f"m{number}" for number in BAD]
    assert {letter["code"] for letter in letters} == {"rejected_422"}
    assert remote.contents(workspace, "s") == texts(BATCH, but=BAD)
    # Two for each halving, for each bad one; a hundred and more would be one by one.
    assert len(network.sent()) <= 2 * 7 * len(BAD) + 2


def test_messages_that_break_the_server_are_found_among_healthy_ones(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """500 for ever to a batch that holds one of them; another session is served meanwhile."""
    daemon.configure({"delivery": {"max_attempts": 3, "backoff_cap_s": 0.1, "settle_delay_s": 0.1}})
    for number in BAD:
        network.hit(f'POST messages content="message {number}.": status=500')
    write_at_once(daemon.start(), BATCH)
    with daemon.client() as client:
        client.write([message(0)], session="healthy")
        wait_until(lambda: remote.contents(workspace, "healthy") == texts(1), "the healthy session")
        assert client.status()["queue"]["pending"] > 0
        daemon.wait_for_delivery(120)
        letters = client.letters()["items"]
    assert [letter["message_id"] for letter in letters] == [f"m{number}" for number in BAD]
    assert {letter["code"] for letter in letters} == {"exhausted"}
    assert remote.contents(workspace, "s") == texts(BATCH, but=BAD)
    assert len(network.sent("s")) <= (2 * 7 + 3) * len(BAD) + 4


DEATHS = 7
KILLER = "the message that kills"


@contextmanager
def killed_by_its_message(daemon: DaemonProcess, network: Network) -> Iterator[list[float]]:
    """A daemon that dies each time it sends a certain message, and is started again each time.

    Yields when it died so far (monotonic).
    """
    network.hit(f'POST messages content="{KILLER}": hang')
    deaths: list[float] = []
    ended = threading.Event()

    def supervise() -> None:
        while not ended.wait(0.01):
            sent = [one for one in network.sent() if any(KILLER in text for text in one.contents)]
            if len(sent) > len(deaths):
                daemon.kill()
                deaths.append(time.monotonic())
                daemon.start()

    supervisor = threading.Thread(target=supervise)
    supervisor.start()
    try:
        yield deaths
    finally:
        ended.set()
        supervisor.join(60)


@pytest.mark.slow
def test_a_message_that_kills_the_daemon_costs_others_nothing_and_itself_ever_more_time(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str
) -> None:
    """A suspect is tried alone, when nobody else waits, at doubling intervals."""
    backoff_cap_s = 2.0
    daemon.configure({"delivery": {"backoff_cap_s": backoff_cap_s, "settle_delay_s": 0.2}})
    with (
        daemon.start().client(timeout_s=10, wait_s=60) as client,
        killed_by_its_message(daemon, network) as deaths,
    ):
        client.write([message(0, KILLER), message(1)], session="killer")
        number = itertools.count()

        def others() -> bool:
            """Somebody else goes on writing."""
            one = next(number)
            client.write([message(one)], session=f"other{one % 3}")
            return len(deaths) >= DEATHS

        wait_until(others, f"{DEATHS} deaths", timeout_s=110)
        written = next(number)
        intervals = [again - before for before, again in itertools.pairwise(deaths)]
        # From the third death on it is a suspect, and waits a fifth of the longest backoff, then twice that.
        waits = [backoff_cap_s / 5 * 2**times for times in range(DEATHS - 3)]
        for interval, wait_s in zip(intervals[2:], waits, strict=True):
            assert interval >= wait_s
        lane = wait_until(
            lambda: next((one for one in client.status()["lanes"] if one["suspect"]), None), "the suspect"
        )
        assert (lane["session"], lane["last_error"]) == ("killer", "daemon_died")
        assert [one.contents for one in network.sent("killer")[3:]] == [[KILLER]] * (len(deaths) - 3)
        for other in range(3):
            mine = [f"message {one}." for one in range(written) if one % 3 == other]
            wait_until(lambda o=other, m=mine: remote.contents(workspace, f"other{o}") == m, "the others")
        assert client.letters()["total"] == 0
        network.heal()
    with daemon.client(wait_s=60) as client:
        wait_until(lambda: client.wake() or not client.status()["queue"]["pending"], "it to be tried again")
    daemon.wait_for_delivery()
    assert remote.contents(workspace, "killer") == [KILLER, "message 1."]
    assert daemon.status()["queue"]["dead"] == 0


@pytest.mark.parametrize(
    "page", ["*: portal", '*: status=404 body="<html>not found</html>"', "*: status=302"]
)
def test_an_address_that_is_nobodys_kills_nothing_and_is_then_corrected(
    daemon: DaemonProcess, network: Network, remote: Remote, workspace: str, page: str
) -> None:
    """A hotel's login page, a wrong path, a redirect, to everything; then the right server."""
    daemon.configure({"delivery": {"max_attempts": 1, "backoff_cap_s": 0.2}})
    network.hit(page)
    with daemon.start().client() as client:
        for session in range(3):
            client.write([message(number) for number in range(10)], session=f"s{session}")
        wait_until(lambda: len(network.seen()) >= 12, "a dozen tries")
        assert client.letters()["total"] == 0
        network.heal()
        daemon.wait_for_delivery()
        assert client.letters()["total"] == 0
    for session in range(3):
        assert remote.contents(workspace, f"s{session}") == texts(10)

"""The watchdog's pulse: what it says, when, and when it falls silent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from honchod.ops.views import Health
from honchod.service.pulse import Pulse, headline, watchdog_s
from honchod.service.systemd import Notifier
from support.systemd import NotifySocket

OK = Health("ok", [], {"hermes": "ok"})
STUCK = Health("stuck", ["writer"], {})


@pytest.fixture
def heard() -> Iterator[NotifySocket]:
    listening = NotifySocket()
    yield listening
    listening.close()


@pytest.mark.parametrize(
    ("environ", "term_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "500000", "WATCHDOG_PID": "7"}, 0.5),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdogs_term_is_that_of_this_process(environ: dict[str, str], term_s: float | None) -> None:
    assert watchdog_s(environ, pid=7) == term_s


def test_a_beat_says_alive_only_while_nothing_is_stuck(heard: NotifySocket) -> None:
    states = [OK, STUCK, OK]
    asked: list[float | None] = []

    def health(within_s: float | None) -> Health:
        asked.append(within_s)
        return states.pop(0)

    pulse = Pulse(Notifier({"NOTIFY_SOCKET": str(heard.path)}), health, term_s=30.0)
    for _ in range(3):
        pulse.beat()
    assert heard.told == [
        "WATCHDOG=1",
        "STATUS=serving",
        "STATUS=stuck: writer",
        "WATCHDOG=1",
        "STATUS=serving",
    ]
    assert asked == [30.0] * 3


def test_without_a_watchdog_only_the_status_is_told(heard: NotifySocket) -> None:
    pulse = Pulse(Notifier({"NOTIFY_SOCKET": str(heard.path)}), lambda _: OK, term_s=None)
    pulse.beat()
    pulse.beat()
    assert heard.told == ["STATUS=serving"]


def test_the_headline_names_what_is_stuck_and_who_is_away() -> None:
    assert headline(Health("ok", [], {"b": "refused", "a": "ok", "c": "stalled"})) == (
        "serving; b refused; c stalled"
    )
    assert headline(Health("stuck", ["writer", "scheduler"], {"a": "refused"})) == "stuck: writer, scheduler"

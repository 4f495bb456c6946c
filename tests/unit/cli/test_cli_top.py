"""What ``honchod top`` makes of two looks."""

from __future__ import annotations

import pytest

from honchod.cli.output import plain
from honchod.cli.top_view import Look, Pace, chart, top_blocks
from honchod.ops import views


def look(at_s: float, *, pending: int, delivered: int, dead: int = 0, uptime_s: float | None = None) -> Look:
    lane = views.LaneView(*("chat-7", "hermes", "w", pending, 4.0, 2, "http_503"), oldest_age_s=700.0)
    letter = views.Letter(
        *("7", "s", "h", "w", "message", "ann", "rejected_422", 1, "c", "2026-03-02T09:00:00Z", 812, "m1", 1)
    )
    status = views.Status(
        version="1",
        uptime_s=at_s if uptime_s is None else uptime_s,
        queue=views.Queue(pending, 700.0, 0, delivered, dead, 0, 2048),
        lanes=[lane],
        destinations=[],
        cache=views.CacheView(0, 0, 0, 0),
        writer=views.WriterView(0, 0, 0, 0, 0),
        delivery=views.DeliveryView(False, 0, 0, 0),
        errors=[],
        notices=[],
        database_bytes=0,
        wal_bytes=0,
    )
    return Look(at_s, status, views.LetterPage([letter], None, 1))


def test_what_came_in_is_what_is_there_or_went() -> None:
    pace = Pace()
    pace.add(look(10.0, pending=5, delivered=100))
    pace.add(look(12.0, pending=4, delivered=120, dead=1))
    (rates,) = pace.rates
    assert (rates.taken, rates.delivered, rates.died) == (10.0, 10.0, 0.5)


def test_a_daemon_that_was_started_anew_shows_no_rate_across_the_start() -> None:
    pace = Pace()
    pace.add(look(10.0, pending=5, delivered=100))
    pace.add(look(12.0, pending=500, delivered=0, uptime_s=1.0))
    assert not pace.rates
    pace.add(look(14.0, pending=500, delivered=8, uptime_s=3.0))
    assert pace.rates[-1].delivered == 4.0


@pytest.mark.parametrize(
    ("values", "bars"), [([], ""), ([0.0, 0.0], ""), ([0.0, 4.0, 8.0], " ▄█"), ([3.0, 3.0], "██")]
)
def test_the_chart_fills_its_height(values: list[float], bars: str) -> None:
    assert chart(values) == bars


def test_lanes_come_with_their_age_and_letters_with_their_code() -> None:
    pace = Pace()
    pace.add(first := look(10.0, pending=5, delivered=100))
    lines = [line.split("\t") for line in plain(top_blocks(first, pace))]
    assert ["11m 40s", "hermes", "chat-7", "5", "4.0s", "2", "http_503"] in lines
    assert ["7", "h", "s", "rejected_422", "1", "2026-03-02T09:00:00Z"] in lines
    assert ["destinations", "all well"] in lines
    assert pace.answer(first)["lanes"][0]["oldest_age_s"] == 700.0

"""The last hour: what is kept, counted and drawn."""

from __future__ import annotations

from xml.etree import ElementTree

from honchod.web import chart
from honchod.web.history import INTERVAL_S, SPAN_S, History, Sample, delivered_by_minute

SVG = "{*}svg"


def drawn(figure: str) -> ElementTree.Element:
    """The picture; it has to be well-formed."""
    svg = ElementTree.fromstring(figure).find("svg")
    assert svg is not None
    return svg


def test_an_hour_is_kept_and_no_more() -> None:
    history = History()
    for number in range(2000):
        history.add(Sample(number * INTERVAL_S, number, 0))
    kept = history.since(1999 * INTERVAL_S)
    assert len(kept) == SPAN_S / INTERVAL_S + 1
    assert kept[-1].pending == 1999
    assert history.since(2000 * INTERVAL_S)[0] == kept[1]
    assert history.since(1999 * INTERVAL_S + SPAN_S * 2) == ()


def test_deliveries_are_counted_in_their_minute() -> None:
    samples = (Sample(0, 0, 100), Sample(10, 0, 103), Sample(3590, 0, 110), Sample(3600, 0, 115))
    minutes = delivered_by_minute(samples, 3600.0)
    assert minutes[-1] == 12
    assert minutes[0] == 3
    assert sum(minutes) == 15


def test_a_counter_that_went_back_counts_nothing() -> None:
    assert sum(delivered_by_minute((Sample(0, 0, 100), Sample(10, 0, 5)), 10.0)) == 0


def test_nothing_yet_is_an_empty_picture() -> None:
    for figure in (chart.waiting((), 0.0), chart.delivered((), 0.0)):
        assert [child.tag for child in drawn(figure)] == ["title", "line"]


def test_the_most_that_waited_stands_at_the_top_and_the_latest_at_the_right() -> None:
    samples = (Sample(1800, 10, 0), Sample(1810, 5, 0))
    svg = drawn(chart.waiting(samples, 1810.0))
    line = [path.attrib["d"] for path in svg.iter("path") if path.attrib["class"] == "line"]
    assert line == ["M598.3,6.0 L600.0,39.0"]
    assert svg.attrib["aria-label"] == "Waiting over the last hour: at most 10, now 5"


def test_samples_with_a_pause_between_them_are_not_joined() -> None:
    svg = drawn(chart.waiting((Sample(0, 1, 0), Sample(10, 1, 0), Sample(500, 1, 0)), 500.0))
    assert len([path for path in svg.iter("path") if path.attrib["class"] == "line"]) == 2


def test_one_delivery_can_be_seen_beside_thousands() -> None:
    svg = drawn(chart.delivered((Sample(0, 0, 0), Sample(10, 0, 1), Sample(100, 0, 100_000)), 100.0))
    heights = sorted(float(bar.attrib["height"]) for bar in svg.iter("rect"))
    assert heights[0] >= 1
    assert heights[-1] > 60
    assert all(bar.attrib["y"] for bar in svg.iter("rect"))

"""The last hour as two small pictures: what waited, and what was delivered. SVG, drawn from samples."""

from __future__ import annotations

from typing import Final

from honchod.ops.amounts import number
from honchod.web.history import SPAN_S, Sample, delivered_by_minute
from honchod.web.markup import Markup, Node, el

_WIDTH: Final = 600
_HEIGHT: Final = 72
_GAP_S: Final = 60.0
"""Samples further apart than this are not joined: the machine slept in between."""


def waiting(samples: tuple[Sample, ...], now_s: float) -> Markup:
    """Messages that waited, over the last hour."""
    most = max((sample.pending for sample in samples), default=0)
    pieces = [_area(piece, now_s, most) for piece in _unbroken(samples)]
    latest = samples[-1].pending if samples else 0
    said = f"Waiting over the last hour: at most {number(most)}, now {number(latest)}"
    return _figure("Waiting", f"max {number(most)}", said, pieces, "waiting")


def delivered(samples: tuple[Sample, ...], now_s: float) -> Markup:
    """Messages delivered in each minute of the last hour."""
    minutes = delivered_by_minute(samples, now_s)
    most = max(minutes)
    width = _WIDTH / len(minutes)
    bars = [
        el(
            "rect",
            el("title", f"{number(count)} delivered, {_ago(len(minutes) - index)}"),
            x=f"{index * width + 1:.1f}",
            y=f"{_y(count, most):.1f}",
            width=f"{width - 2:.1f}",
            height=f"{_HEIGHT - _y(count, most):.1f}",
            rx="1",
        )
        for index, count in enumerate(minutes)
        if count
    ]
    said = f"Delivered over the last hour: {number(sum(minutes))}, at most {number(most)} a minute"
    return _figure("Delivered a minute", f"max {number(most)}", said, bars, "delivered")


def _figure(title: str, most: str, said: str, shapes: Node, kind: str) -> Markup:
    return el(
        "figure",
        el("figcaption", el("span", title), el("span", most, class_="muted")),
        el(
            "svg",
            el("title", said),
            el("line", x1=0, y1=_HEIGHT, x2=_WIDTH, y2=_HEIGHT, class_="base"),
            shapes,
            viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
            preserveAspectRatio="none",
            role="img",
            aria_label=said,
            class_=kind,
        ),
        el("p", el("span", "60 min ago"), el("span", "now"), class_="axis muted", aria_hidden="true"),
        class_="chart",
    )


def _unbroken(samples: tuple[Sample, ...]) -> list[list[Sample]]:
    pieces: list[list[Sample]] = []
    for sample in samples:
        if not pieces or sample.at_s - pieces[-1][-1].at_s > _GAP_S:
            pieces.append([])
        pieces[-1].append(sample)
    return pieces


def _area(piece: list[Sample], now_s: float, most: int) -> list[Markup]:
    points = [f"{_x(sample.at_s, now_s):.1f},{_y(sample.pending, most):.1f}" for sample in piece]
    first, last = _x(piece[0].at_s, now_s), _x(piece[-1].at_s, now_s)
    outline = " L".join(points)
    return [
        el("path", d=f"M{first:.1f},{_HEIGHT} L{outline} L{last:.1f},{_HEIGHT} Z", class_="fill"),
        el("path", d=f"M{outline}", class_="line"),
    ]


def _x(at_s: float, now_s: float) -> float:
    return _WIDTH * (1 - min(max(now_s - at_s, 0.0), SPAN_S) / SPAN_S)


def _y(value: int, most: int) -> float:
    """The top of a value; a little room stays above the largest, and a value above none can be seen."""
    return _HEIGHT - (max(value * (_HEIGHT - 6) / most, 1.5) if value else 0)


def _ago(minutes: int) -> str:
    return "in the last minute" if minutes == 1 else f"{minutes} min ago"

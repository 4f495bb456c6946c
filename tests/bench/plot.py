"""A run as a picture: how far each row is on the good side of its goal, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Final

from bench.rows import Result, Row, Sense

TITLE: Final = "Each row against its goal: right of 1 is better than the goal; bars are quartiles"
WIDTH: Final = 1000
LABEL_WIDTH: Final = 520
ROW_HEIGHT: Final = 30
TOP: Final = 46
DECADES: Final = 1.0
"""The axis goes from a tenth of the goal to ten times; what is beyond stands at its end."""
MARKS: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MET: Final = "#2e7d32"
MISSED: Final = "#c62828"
INK: Final = "#37474f"


def plot(results: Sequence[Result]) -> str:
    """The SVG of all rows that have a goal."""
    rows = [row for row in results if isinstance(row, Row) and row.goal is not None]
    height = TOP + ROW_HEIGHT * len(rows) + 20
    size = f'width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect {size} fill="white"/>',
        f'<text x="8" y="18" font-size="14" fill="{INK}">{TITLE}</text>',
    ]
    for mark in MARKS:
        x = _x(mark)
        dash = "" if mark == 1.0 else ' stroke-dasharray="2 4"'
        parts.append(f'<path d="M{x:.1f} {TOP - 8}V{height - 16}" stroke="{INK}" stroke-width="0.8"{dash}/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP - 12}" text-anchor="middle" fill="{INK}">{mark:g}</text>')
    for number, row in enumerate(rows):
        parts += _bar(row, TOP + ROW_HEIGHT * number)
    return "\n".join([*parts, "</svg>", ""])


def _bar(row: Row, y: int) -> list[str]:
    edges = sorted((_x(_margin(row, row.value.low)), _x(_margin(row, row.value.high))))
    middle = _x(_margin(row, row.value.median))
    colour = MET if row.met else MISSED
    label = f"{row.what} / {row.yardstick}" if row.yardstick else row.what
    place = f'x="{edges[0]:.1f}" y="{y + 8}" width="{max(1.0, edges[1] - edges[0]):.1f}" height="12"'
    title = f"<title>{escape(label)}: {row.value.median:.3g}</title>"
    return [
        f'<text x="8" y="{y + 18}" fill="{INK}">{escape(_short(label))}</text>',
        f'<rect {place} fill="{colour}" fill-opacity="0.35"/>',
        f'<circle cx="{middle:.1f}" cy="{y + 14}" r="5" fill="{colour}">{title}</circle>',
    ]


def _margin(row: Row, value: float) -> float:
    """How many times better than the goal a value is."""
    assert row.goal is not None
    if value <= 0:
        return 10**DECADES if row.goal.met(value) else 10**-DECADES
    return row.goal.bound / value if row.goal.sense is Sense.AT_MOST else value / row.goal.bound


def _x(margin: float) -> float:
    share = (max(-DECADES, min(DECADES, math.log10(margin))) + DECADES) / (2 * DECADES)
    return LABEL_WIDTH + share * (WIDTH - LABEL_WIDTH - 30)


def _short(label: str) -> str:
    return label if len(label) <= 82 else label[:81] + "…"

"""A run as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table

from bench.machine import Machine
from bench.plan import Plan
from bench.rows import Goal, Result, Row, Skipped
from bench.spread import Spread


@dataclass(frozen=True, slots=True)
class Report:
    """All of a run. ``load_after`` is the load average when it ended: high ones make poor figures."""

    began_at: str
    seconds: float
    plan: Plan
    machine: Machine
    load_after: float
    results: Sequence[Result]


def table(report: Report) -> Table:
    """For a terminal. Ratios are medians of pairs, with the quartiles around them."""
    shown = Table(title="honchod, each row beside its yardstick", title_justify="left")
    for heading in ("what", "yardstick", "ours", "yardstick's", "ratio (quartiles)", "goal", ""):
        shown.add_column(heading, justify="left" if heading in ("what", "yardstick", "") else "right")
    for result in report.results:
        if isinstance(result, Skipped):
            shown.add_row(result.what, result.yardstick, "", "", "", "", f"not measured: {result.reason}")
        else:
            shown.add_row(*_cells(result))
    return shown


def markdown(report: Report) -> str:
    """For a document: what was measured, against what, with which goal, and what came of it."""
    lines = ["| What | Yardstick | Goal | Measured | |", "| --- | --- | --- | --- | --- |"]
    for result in report.results:
        if isinstance(result, Skipped):
            lines.append(f"| {result.what} | {result.yardstick} | | not measured: {result.reason} | |")
        else:
            verdict = {True: "met", False: "**missed**", None: ""}[result.met]
            goal = _goal(result.goal, result)
            lines.append(f"| {result.what} | {result.yardstick} | {goal} | {_measured(result)} | {verdict} |")
    return "\n".join([*lines, ""])


def save(report: Report, path: Path) -> None:
    """As JSON."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(_plain(report)), indent=1) + b"\n")


def _plain(report: Report) -> dict[str, Any]:
    return {
        **asdict(report),
        "results": [
            {**asdict(result), "met": result.met} if isinstance(result, Row) else asdict(result)
            for result in report.results
        ],
    }


def _cells(row: Row) -> tuple[str, ...]:
    ratio = f"{row.value.median:.2f} ({row.value.low:.2f}–{row.value.high:.2f})"
    verdict = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}[row.met]
    return (
        row.what + (f"\n[dim]{row.note}[/]" if row.note else ""),
        row.yardstick,
        _amount(row.ours, row.unit),
        "" if row.theirs is None else _amount(row.theirs, row.unit),
        ratio,
        _goal(row.goal, row),
        verdict,
    )


def _measured(row: Row) -> str:
    ours = _amount(row.ours, row.unit)
    if row.theirs is None:
        return ours
    return f"{row.value.median:.2f}× ({ours} : {_amount(row.theirs, row.unit)})"


def _amount(spread: Spread, unit: str) -> str:
    value = spread.median
    digits = 0 if value >= 100 else 1 if value >= 10 else 3
    return f"{value:,.{digits}f} {unit}"


def _goal(goal: Goal | None, row: Row) -> str:
    if goal is None:
        return ""
    return f"{goal.sense.value} {goal.bound:g}" + ("×" if row.theirs is not None else f" {row.unit}")

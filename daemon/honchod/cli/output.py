"""Printing: tables and colour on a terminal, tab-separated lines elsewhere, JSON when asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from honchod.cli.printable import printable

if TYPE_CHECKING:
    from rich.console import RenderableType


class Tone(Enum):
    """How a word should strike the eye; the value is its style on a terminal."""

    PLAIN = ""
    GOOD = "green"
    WARNING = "yellow"
    BAD = "red"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text of any origin with its tone."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, one a line."""

    pairs: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a title. ``empty`` stands in its place on a terminal when there are none."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    empty: str = ""


Block = Facts | Table


def facts(**values: object) -> Facts:
    """Facts out of ready values, named by the keywords; a ``Cell`` keeps its tone."""
    return Facts(tuple((name.replace("_", " "), cell(value)) for name, value in values.items()))


def cell(value: object) -> Cell:
    """A cell that shows ``value``; ``-`` for None."""
    return value if isinstance(value, Cell) else Cell("-" if value is None else str(value))


def show(blocks: Sequence[Block]) -> None:
    """Print the blocks, as fits where stdout goes."""
    if sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(rendered(blocks))
    else:
        for line in plain(blocks):
            print(line)
        sys.stdout.flush()


def show_json(value: Any) -> None:
    """Print JSON: indented on a terminal, else on one line."""
    print(json.dumps(value, indent=2 if sys.stdout.isatty() else None), flush=True)


def plain(blocks: Iterable[Block]) -> list[str]:
    """The blocks as lines for other programs: ``name<TAB>value``; tables with a header, unless empty."""
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Facts):
            lines += [f"{name}\t{printable(value.text)}" for name, value in block.pairs]
        elif block.rows:
            lines += [*([""] if lines else []), "\t".join(block.columns)]
            lines += ["\t".join(printable(value.text) for value in row) for row in block.rows]
    return lines


def rendered(blocks: Iterable[Block]) -> RenderableType:
    """The blocks for a terminal."""
    from rich.console import Group

    shown = [block for block in blocks if isinstance(block, Facts) or block.rows or block.empty]
    return Group(*(_rich_facts(block) if isinstance(block, Facts) else _rich_table(block) for block in shown))


def _rich_facts(block: Facts) -> RenderableType:
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, 2))
    for name, value in block.pairs:
        grid.add_row(Text(name, style="bold"), Text(printable(value.text), style=value.tone.value))
    return grid


def _rich_table(block: Table) -> RenderableType:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    if not block.rows:
        return Text(block.empty, style="dim")
    grid = Grid(title=block.title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in block.columns:
        grid.add_column(name, overflow="fold")
    for row in block.rows:
        grid.add_row(*(Text(printable(value.text), style=value.tone.value) for value in row))
    return grid

"""What the demo shows while it runs."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

from honchod.cli.demo.conversation import AI_PEER, CONVERSATION, USER_PEER, Line
from honchod.cli.demo.play import Acked, Delivered, Ended, Event, Noted
from honchod.cli.output import Block, Cell, Table, Tone, cell, facts
from honchod.ops.amounts import millis

if TYPE_CHECKING:
    from rich.progress import Progress


class Screen(Protocol):
    """Shows events as they come."""

    def running(self) -> AbstractContextManager[object]:
        """Held while the demo runs."""

    def show(self, event: Event) -> None:
        """Show one event."""


class NoScreen:
    """Shows nothing."""

    def running(self) -> AbstractContextManager[object]:
        """Nothing to hold."""
        return nullcontext()

    def show(self, event: Event) -> None:
        """Not a word."""


class PlainScreen:
    """A line an event."""

    def running(self) -> AbstractContextManager[object]:
        """Nothing to hold."""
        return nullcontext()

    def show(self, event: Event) -> None:
        """Print its line, if it has one."""
        text = sentence(event)
        if text is not None:
            print(text, flush=True)


class LiveScreen:
    """Lines, with two bars below: how much is on disk, how much in Honcho."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress: Progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        )
        self._durable = self._progress.add_task("on disk", total=len(CONVERSATION))
        self._delivered = self._progress.add_task("in Honcho", total=len(CONVERSATION))

    def running(self) -> AbstractContextManager[object]:
        """The bars stand while this is held."""
        return self._progress

    def show(self, event: Event) -> None:
        """Print its line above the bars and move them."""
        from rich.text import Text

        text = sentence(event)
        if text is not None:
            self._progress.console.print(Text(text, style="bold" if isinstance(event, Noted) else ""))
        if isinstance(event, Acked):
            self._progress.advance(self._durable)
        elif isinstance(event, Delivered):
            self._progress.update(self._delivered, completed=event.count)


def sentence(event: Event) -> str | None:
    """The line that tells of an event; None for one that has none."""
    match event:
        case Noted(text):
            return f"-- {text}"
        case Acked(line, ms):
            return f"   {_name(line)}: {line.text}  [on disk in {millis(ms)}]"
        case Delivered(count):
            return f"   {count} of {len(CONVERSATION)} are in Honcho"
        case Ended():
            return None


def summary(acked: dict[str, float], ended: Ended) -> list[Block]:
    """The table at the end: each message, and whether the promises held. ``acked``: milliseconds by id."""
    verdict = ended.verdict
    rows = tuple(
        (
            cell(line.id),
            cell(_name(line)),
            cell(millis(acked[line.id])),
            _fate(line, ended),
        )
        for line in CONVERSATION
    )
    times = sorted(acked.values())
    return [
        Table("The conversation, as Honcho has it", ("id", "peer", "acked after", "in Honcho"), rows),
        facts(
            acked=f"median {millis(times[len(times) // 2])}, slowest {millis(times[-1])}",
            lost=_count(len(verdict.lost)),
            duplicated=_count(len(verdict.duplicated)),
            order=Cell("kept", Tone.GOOD) if verdict.in_order else Cell("broken", Tone.BAD),
            content=Cell("unchanged", Tone.GOOD) if verdict.unchanged else Cell("changed", Tone.BAD),
            requests=f"{ended.message_requests} with messages",
            recalled=f"in {millis(ended.recalled_ms)}",
            took=f"{ended.took_s:.1f} s",
        ),
    ]


def _name(line: Line) -> str:
    return USER_PEER if line.role == "user" else AI_PEER


def _fate(line: Line, ended: Ended) -> Cell:
    if line.id in ended.verdict.lost:
        return Cell("lost", Tone.BAD)
    if line.id in ended.verdict.duplicated:
        return Cell("more than once", Tone.BAD)
    return Cell("once", Tone.GOOD)


def _count(number: int) -> Cell:
    return Cell(str(number), Tone.BAD if number else Tone.GOOD)

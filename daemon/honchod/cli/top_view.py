"""What ``honchod top`` shows. No I/O."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from honchod.cli.output import Block, Cell, Table, Tone, cell, facts
from honchod.ops.amounts import duration, number, size

if TYPE_CHECKING:
    from honchod.ops.views import LaneView, Letter, LetterPage, Status

BARS: Final = " ▁▂▃▄▅▆▇█"
WIDTH: Final = 60
"""How many looks the chart goes back."""
LATE_S: Final = 600.0
"""A lane that waits longer than this strikes the eye."""


@dataclass(frozen=True, slots=True)
class Look:
    """The daemon at one instant (monotonic seconds)."""

    at_s: float
    status: Status
    letters: LetterPage


@dataclass(frozen=True, slots=True)
class Rates:
    """Events a second between two looks: taken in, delivered, died."""

    taken: float
    delivered: float
    died: float


class Pace:
    """The throughput, from one look to the next."""

    def __init__(self) -> None:
        self._last: Look | None = None
        self.rates: deque[Rates] = deque(maxlen=WIDTH)

    def add(self, look: Look) -> None:
        """One more look. A daemon that was started anew counts from its own first look."""
        before, self._last = self._last, look
        if before is None or look.status.uptime_s < before.status.uptime_s:
            return
        elapsed_s = max(1e-3, look.at_s - before.at_s)
        old, new = before.status.queue, look.status.queue
        delivered = new.delivered - old.delivered
        died = new.dead - old.dead
        # What came in is what is there, or went: an event that was retried did both.
        taken = new.pending - old.pending + delivered + died + new.discarded - old.discarded
        self.rates.append(Rates(*(max(0, count) / elapsed_s for count in (taken, delivered, died))))

    def answer(self, look: Look) -> dict[str, Any]:
        """The last look and its rates as JSON."""
        last = self.rates[-1] if self.rates else Rates(0, 0, 0)
        return {
            "per_s": {"taken": last.taken, "delivered": last.delivered, "died": last.died},
            "pending": look.status.queue.pending,
            "oldest_age_s": look.status.queue.oldest_age_s,
            "dead": look.status.queue.dead,
            "lanes": [
                {
                    "host": lane.host,
                    "session": lane.session,
                    "pending": lane.pending,
                    "oldest_age_s": lane.oldest_age_s,
                    "last_error": lane.last_error,
                }
                for lane in look.status.lanes
            ],
        }


def top_blocks(look: Look, pace: Pace) -> list[Block]:
    """Throughput first, then the lanes by age, then the letters."""
    status, queue = look.status, look.status.queue
    last = pace.rates[-1] if pace.rates else Rates(0, 0, 0)
    away = [f"{each.host} {each.state}" for each in status.destinations if each.state != "ok"]
    return [
        facts(
            pending=f"{number(queue.pending)}, oldest {duration(queue.oldest_age_s)}, {size(queue.bytes)}",
            taken_in=f"{last.taken:.1f}/s  {chart([rates.taken for rates in pace.rates])}",
            delivered=f"{last.delivered:.1f}/s  {chart([rates.delivered for rates in pace.rates])}",
            dead_letters=Cell(number(queue.dead), Tone.BAD if queue.dead else Tone.PLAIN),
            worker=Cell("paused", Tone.WARNING)
            if status.delivery.paused
            else f"{number(queue.in_flight)} events in flight",
            destinations=Cell(", ".join(away), Tone.BAD) if away else Cell("all well", Tone.GOOD),
        ),
        Table(
            "Lanes by age",
            ("age", "host", "session", "pending", "due in", "failures", "last error"),
            tuple(_lane(lane) for lane in status.lanes),
            empty="nothing waits",
        ),
        Table(
            "Dead letters",
            ("id", "host", "session", "code", "attempts", "died at"),
            tuple(_letter(letter) for letter in look.letters.items),
        ),
    ]


def chart(values: list[float]) -> str:
    """The values as bars, the highest one full."""
    highest = max(values, default=0.0)
    if highest <= 0:
        return ""
    return "".join(BARS[round(value / highest * (len(BARS) - 1))] for value in values)


def _lane(lane: LaneView) -> tuple[Cell, ...]:
    age = lane.oldest_age_s
    return (
        Cell(duration(age), Tone.WARNING if (age or 0) > LATE_S else Tone.PLAIN),
        cell(lane.host),
        cell(lane.session),
        cell(number(lane.pending)),
        cell("in flight" if lane.in_flight else duration(lane.due_in_s)),
        cell(number(lane.failures)),
        cell(lane.last_error),
    )


def _letter(letter: Letter) -> tuple[Cell, ...]:
    return (
        cell(letter.id),
        cell(letter.host),
        cell(letter.session),
        Cell(letter.code, Tone.BAD),
        cell(number(letter.attempts)),
        cell(letter.died_at),
    )

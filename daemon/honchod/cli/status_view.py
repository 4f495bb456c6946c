"""The status as tables. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from honchod.cli.output import Block, Cell, Table, Tone, cell, facts
from honchod.ops.amounts import duration, millis, number, size

if TYPE_CHECKING:
    from honchod.ops.views import DestinationView, LaneView, Status

TONES = {
    "ok": Tone.GOOD,
    "closed": Tone.GOOD,
    "half_open": Tone.WARNING,
    "throttled": Tone.WARNING,
    "open": Tone.BAD,
    "refused": Tone.BAD,
    "stalled": Tone.BAD,
    "unreachable": Tone.BAD,
}


def status_blocks(status: Status) -> list[Block]:
    """Queue and delivery first, then what is wrong, then destinations and the lanes that wait."""
    return [
        _overview(status),
        Table("Notices", ("notice",), tuple((Cell(text, Tone.WARNING),) for text in status.notices)),
        Table(
            "Destinations",
            (
                *("host", "url", "workspace", "key", "state", "circuit"),
                *("retry in", "delivered", "derived", "last error"),
            ),
            tuple(_destination(each) for each in status.destinations),
            empty="no destinations",
        ),
        Table(
            "Lanes that wait",
            ("host", "session", "pending", "due in", "failures", "last error", "notes"),
            tuple(_lane(each) for each in status.lanes),
        ),
        Table(
            "Last errors",
            ("code", "host", "at"),
            tuple((cell(each.code), cell(each.host), cell(each.at)) for each in status.errors),
        ),
    ]


def _overview(status: Status) -> Block:
    queue, delivery, writer, cache = status.queue, status.delivery, status.writer, status.cache
    commit_times = f"p50 {millis(writer.p50_ms)}, p99 {millis(writer.p99_ms)}"
    return facts(
        version=f"{status.version}, up {duration(status.uptime_s)}",
        pending=f"{number(queue.pending)}, oldest {duration(queue.oldest_age_s)}, {size(queue.bytes)}",
        delivered=number(queue.delivered),
        dead_letters=Cell(number(queue.dead), Tone.BAD if queue.dead else Tone.PLAIN),
        worker=Cell("paused", Tone.WARNING) if delivery.paused else f"{delivery.in_flight} lanes in flight",
        writer=f"{number(writer.commits)} commits, {commit_times}",
        cache=f"{number(cache.entries)} entries, {number(cache.hits)} hits, {number(cache.misses)} misses",
        database=f"{size(status.database_bytes)}, WAL {size(status.wal_bytes)}",
        drop_box=Cell(
            f"{number(status.drop.waiting)} waiting, {number(status.drop.bad)} bad",
            Tone.BAD if status.drop.bad or status.drop.trouble else Tone.PLAIN,
        ),
    )


def _destination(view: DestinationView) -> tuple[Cell, ...]:
    return (
        cell(view.host),
        cell(view.url),
        cell(view.workspace),
        cell(view.key_source),
        Cell(view.state, TONES[view.state]),
        Cell(view.circuit, TONES[view.circuit]),
        cell(duration(view.retry_in_s)),
        cell(number(view.delivered)),
        cell(number(view.derived)),
        cell(view.last_error),
    )


def _lane(view: LaneView) -> tuple[Cell, ...]:
    notes = {
        "uncertain": view.uncertain,
        "suspect": view.suspect,
        "order gap": view.order_gap,
        "host removed": not view.configured,
    }
    return (
        cell(view.host),
        cell(view.session),
        cell(number(view.pending)),
        cell("in flight" if view.in_flight else duration(view.due_in_s)),
        cell(number(view.failures)),
        cell(view.last_error),
        Cell(", ".join(note for note, holds in notes.items() if holds), Tone.WARNING),
    )

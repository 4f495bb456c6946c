"""``honchod recall-log``: what the last recalls were."""

from __future__ import annotations

import click

from honchod.cli.answers import read
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import Cell, Table, Tone, cell, show, show_json
from honchod.client.wire import quote
from honchod.recall.freshness import RecallStatus
from honchod.recall.requests import Receipt, ReceiptPage

EPILOG = """\b
examples:
  honchod recall-log
  honchod recall-log --session chat-7 --limit 20 --json

Nothing of what was recalled is in it.
"""

TONES = {
    RecallStatus.FRESH: Tone.GOOD,
    RecallStatus.STALE: Tone.WARNING,
    RecallStatus.UNAVAILABLE: Tone.BAD,
}


@click.command(name="recall-log", epilog=EPILOG)
@click.option("--session", metavar="S", help="Only this Honcho session.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, metavar="N")
@json_option
@socket_option
def recall_log(session: str | None, limit: int, as_json: bool) -> None:
    """Show the last recalls: how fresh, which sections, how old, what was cut, how long they took."""
    path = f"/v1/recall-log?limit={limit}" + (f"&session={quote(session)}" if session else "")
    with open_client() as client:
        answer = client.call("GET", path)
    if as_json:
        show_json(answer)
        return
    page = read(answer, ReceiptPage)
    columns = ("at", "host", "session", "status", "query", "sections and ages", "cut", "chars", "calls", "ms")
    show([Table("Recalls", columns, tuple(map(_row, page.items)), empty="nothing was recalled yet")])


def _row(receipt: Receipt) -> tuple[Cell, ...]:
    query = "-" if not receipt.query else "matched" if receipt.query_matched else "not yet"
    return (
        cell(receipt.at),
        cell(receipt.host),
        cell(receipt.session),
        Cell(receipt.status, TONES.get(receipt.status, Tone.PLAIN)),
        cell(query),
        cell(", ".join(f"{one.section} {one.age_s:g}s" for one in receipt.sections) or "-"),
        cell(", ".join(receipt.truncated) or "-"),
        cell(receipt.chars),
        cell(receipt.calls),
        cell(f"{receipt.ms:g}"),
    )

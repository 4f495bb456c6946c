"""Dead letters as tables. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from honchod.cli.output import Block, Cell, Table, Tone, cell, facts
from honchod.ops.amounts import number, size

if TYPE_CHECKING:
    from honchod.ops.views import LetterDetail, LetterPage


def page_blocks(page: LetterPage) -> list[Block]:
    """One page of letters, and how to get the next."""
    columns = ("id", "died", "host", "session", "kind", "peer", "code", "attempts", "size")
    rows = tuple(
        (
            cell(letter.id),
            cell(letter.died_at),
            cell(letter.host),
            cell(letter.session),
            cell(letter.kind),
            cell(letter.peer),
            Cell(letter.code, Tone.BAD),
            cell(number(letter.attempts)),
            cell(size(letter.size)),
        )
        for letter in page.items
    )
    blocks: list[Block] = [Table("Dead letters", columns, rows, empty="no dead letters")]
    if page.cursor is not None:
        blocks.append(facts(total=number(page.total), next_page=f"--cursor {page.cursor}"))
    return blocks


def letter_blocks(letter: LetterDetail) -> list[Block]:
    """One letter and its attempts, without content."""
    attempts = tuple(
        (cell(each.at), Cell(each.outcome, Tone.BAD), cell(each.status), cell(f"{each.ms} ms"))
        for each in letter.history
    )
    return [
        facts(
            id=letter.id,
            code=Cell(letter.code, Tone.BAD),
            host=letter.host,
            workspace=letter.workspace,
            session=letter.session,
            kind=letter.kind,
            peer=letter.peer,
            message=letter.message_id,
            part=letter.part,
            attempts=letter.attempts,
            created=letter.created_at,
            died=letter.died_at,
            size=size(letter.size),
        ),
        Table("Attempts", ("at", "outcome", "status", "took"), attempts, empty="no attempts recorded"),
    ]

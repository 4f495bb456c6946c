"""``honchod letters``: dead letters."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

import click

from honchod.cli.answers import read
from honchod.cli.letters_view import letter_blocks, page_blocks
from honchod.cli.options import confirm, json_option, open_client, socket_option, yes_option
from honchod.cli.output import show, show_json
from honchod.cli.printable import printable
from honchod.ops.amounts import number
from honchod.ops.views import Discarded, LetterDetail, LetterPage, Retried

if TYPE_CHECKING:
    from honchod.client import Client

IDS_A_CALL = 100
"""What the daemon retries in one call unless all are meant."""

session_option = click.option("--session", metavar="S", help="Only letters of this session.")
code_option = click.option("--code", metavar="C", help="Only letters with this code, such as rejected_422.")


@click.group(epilog="Example: honchod letters list")
@socket_option
def letters() -> None:
    """Messages that could not be delivered, each with its reason. They stay until someone acts."""


@letters.command("list", epilog="Example: honchod letters list --code rejected_422")
@session_option
@code_option
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=100,
    metavar="N",
    show_default=True,
    help="At most so many.",
)
@click.option("--cursor", metavar="C", help="Where the page before this one ended.")
@json_option
@socket_option
def list_letters(
    session: str | None, code: str | None, limit: int, cursor: str | None, as_json: bool
) -> None:
    """List letters, oldest first, without content."""
    with open_client() as client:
        page = client.letters(session=session, code=code, limit=limit, cursor=cursor)
    if as_json:
        show_json(page)
    else:
        show(page_blocks(read(page, LetterPage)))


@letters.command("show", epilog="Example: honchod letters show 4711 --content")
@click.argument("letter_id", metavar="ID")
@click.option("--content", is_flag=True, help="With what was said.")
@json_option
@socket_option
def show_letter(letter_id: str, content: bool, as_json: bool) -> None:
    """Show one letter with its attempts."""
    with open_client() as client:
        answer = client.letter(letter_id, content=content)
    if as_json:
        show_json(answer)
        return
    letter = read(answer, LetterDetail)
    show(letter_blocks(letter))
    if letter.content is not None:
        click.echo(f"\n{_terminal_safe(letter.content)}")


@letters.command(
    "retry",
    epilog="\b\nexamples:\n  honchod letters retry 4711\n  honchod letters retry --code rejected_422\n"
    "  honchod letters retry --all",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@session_option
@code_option
@click.option("--limit", type=click.IntRange(1, 1000), metavar="N", help="At most so many (default: 100).")
@click.option("--all", "everything", is_flag=True, help="All that match, however many.")
@yes_option
@json_option
@socket_option
def retry_letters(
    ids: Sequence[str],
    session: str | None,
    code: str | None,
    limit: int | None,
    everything: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Put letters back into the queue.

    Those named, or those of a session or with a code, oldest first.
    """
    if ids and (session or code or limit or everything):
        raise click.UsageError("name letters by ID, or say which match, not both")
    if everything and limit:
        raise click.UsageError("--all knows no --limit")
    if not (ids or session or code or everything):
        raise click.UsageError("name letters by ID, with --session or --code, or say --all")
    with open_client() as client:
        if everything:
            matching = read(client.letters(session=session, code=code, limit=1), LetterPage).total
            confirm(f"Retry all {number(matching)} letters?", yes=yes)
        if ids:
            answers = [client.retry_letters(some) for some in _batches(ids)]
        else:
            answers = [client.retry_letters(session=session, code=code, limit=limit, everything=everything)]
    outcomes = [read(answer, Retried) for answer in answers]
    retried = sum(outcome.retried for outcome in outcomes)
    remaining = sum(outcome.remaining for outcome in outcomes)
    if as_json:
        show_json({"retried": retried, "remaining": remaining})
    else:
        click.echo(f"{number(retried)} back in the queue, {number(remaining)} left")


@letters.command("discard", epilog="Example: honchod letters discard 4711")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@yes_option
@json_option
@socket_option
def discard_letters(ids: Sequence[str], yes: bool, as_json: bool) -> None:
    """Give up on the letters named. They are never sent; there is no way back."""
    confirm(f"Discard {number(len(ids))} letters for good?", yes=yes)
    with open_client() as client:
        discarded = sum(read(client.discard_letters(some), Discarded).discarded for some in _batches(ids))
    if as_json:
        show_json({"discarded": discarded})
    else:
        click.echo(f"{number(discarded)} discarded")


@letters.command("export", epilog="Example: honchod letters export --content --output letters.ndjson")
@session_option
@code_option
@click.option("--content", is_flag=True, help="With what was said.")
@click.option(
    "--output",
    type=click.File("w", lazy=True),
    default="-",
    metavar="FILE",
    help="Where to (default: stdout).",
)
@socket_option
def export_letters(session: str | None, code: str | None, content: bool, output: IO[str]) -> None:
    """Write letters with their attempts as JSON lines."""
    with open_client() as client:
        for letter_id in _ids(client, session, code):
            output.write(json.dumps(client.letter(letter_id, content=content)) + "\n")


def _ids(client: Client, session: str | None, code: str | None) -> Iterator[str]:
    cursor: str | None = None
    while True:
        page = read(client.letters(session=session, code=code, limit=1000, cursor=cursor), LetterPage)
        yield from (letter.id for letter in page.items)
        cursor = page.cursor
        if cursor is None:
            return


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), IDS_A_CALL):
        yield ids[start : start + IDS_A_CALL]


def _terminal_safe(text: str) -> str:
    """The text as it is for a file or pipe; without control sequences for a terminal."""
    if not sys.stdout.isatty():
        return text
    return "".join(char if char in "\n\t" else printable(char) for char in text)

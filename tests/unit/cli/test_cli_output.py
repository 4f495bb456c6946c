"""What is printed: for other programs, for a terminal, and always without control characters of others."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from honchod.cli.exits import Exit, complain
from honchod.cli.output import Cell, Table, Tone, facts, plain, rendered
from honchod.cli.printable import printable
from honchod.client import errors

TABLE = Table("Things", ("name", "state"), ((Cell("a\tb"), Cell("open", Tone.BAD)),))


def on_a_terminal(*blocks: object) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system="standard")
    console.print(rendered(blocks))  # type: ignore[arg-type]
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_lines_for_programs_are_separated_by_tabs() -> None:
    assert plain([facts(pending=3, oldest_age=None), TABLE]) == [
        "pending\t3",
        "oldest age\t-",
        "",
        "name\tstate",
        "a\\tb\topen",
    ]


def test_an_empty_table_is_no_line_for_programs_and_a_word_on_a_terminal() -> None:
    empty = Table("Things", ("name",), (), empty="no things")
    assert plain([empty]) == []
    assert "no things" in on_a_terminal(empty)


def test_a_narrow_terminal_cuts_nothing_off() -> None:
    shown = on_a_terminal(Table("Things", ("id", "url"), ((Cell("i" * 50), Cell("u" * 100)),)))
    assert shown.count("i") - shown.count("Things") >= 50
    assert shown.count("u") >= 100


def test_tones_are_colours_on_a_terminal() -> None:
    assert "\x1b[31mopen" in on_a_terminal(TABLE)


def test_markup_in_the_text_of_others_is_text() -> None:
    assert "[red]x[/red]" in on_a_terminal(facts(session="[red]x[/red]"))


@pytest.mark.parametrize("evil", ["\x1b[2J", "a\nb", "\x9b31m", "\u202e", "\r", "\x00"])
def test_what_could_drive_a_terminal_is_escaped(evil: str) -> None:
    table = Table("Things", ("name",), ((Cell(f"<{evil}>"),),))
    told = facts(session=f"<{evil}>")
    for text in (printable(f"<{evil}>"), *plain([told, table]), on_a_terminal(told), on_a_terminal(table)):
        assert f"<{evil}>" not in text


def test_plain_text_of_any_language_stays_as_it_is() -> None:
    assert printable("Graça 東京 🙂") == "Graça 東京 🙂"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.NotReachable("/s", "refused"), Exit.NOT_REACHABLE),
        (errors.NoAnswer("/s", "cut"), Exit.NOT_REACHABLE),
        (errors.NotAllowed("no"), Exit.NOT_ALLOWED),
        (errors.BadAnswer("html"), Exit.FAILED),
        (errors.OutboxFull(507, "outbox_full", "full\x1b[2J"), Exit.FAILED),
    ],
)
def test_a_failure_is_one_line_and_an_exit_code(
    error: errors.ClientError, code: Exit, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complain(error) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"honchod: {error.code}: ")
    assert said.err.count("\n") == 1
    assert "\x1b" not in said.err

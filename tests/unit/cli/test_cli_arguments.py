"""The arguments of ``send`` and ``recall``, read without argparse, and as argparse would."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.cli import recall, send
from honchod.cli.arguments import Arguments, make_parser, parse, read_usual

COMMANDS = pytest.mark.parametrize(
    ("taken", "given_type"), [(send.TAKEN, send.Given), (recall.TAKEN, recall.Given)], ids=["send", "recall"]
)

TEXTS = st.sampled_from(
    [
        "s",
        "",
        "-",
        "--",
        "-x",
        "-1",
        "- a",
        "two words",
        "a=b",
        "user",
        "0",
        "5",
        "nan",
        "summary",
        "@file",
        "é",
    ]
)


def words_of(taken: Arguments) -> st.SearchStrategy[list[str]]:
    """Command lines: mostly of what the command takes, also with what it does not."""
    names = st.sampled_from([*(option.name for option in taken.options), "--help", "-h", "--nope", "--sess"])
    pair = st.tuples(names, TEXTS)
    pieces = st.one_of(
        pair.map(list),
        pair.map(lambda both: [f"{both[0]}={both[1]}"]),
        names.map(lambda name: [name]),
        TEXTS.map(lambda text: [text]),
    )
    good = st.lists(pieces, max_size=5).map(lambda found: [word for piece in found for word in piece])
    return st.tuples(st.sampled_from([[], ["--session", "s"]]), good).map(lambda both: [*both[0], *both[1]])


def with_argparse(taken: Arguments, words: Sequence[str], into: Any) -> dict[str, Any] | None:
    """What argparse makes of the words; None where it ends the command."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            return vars(make_parser(taken).parse_args(words, into))
        except SystemExit:
            return None


@COMMANDS
@given(data=st.data())
def test_what_is_read_by_hand_is_what_argparse_reads(
    taken: Arguments, given_type: type, data: st.DataObject
) -> None:
    words = data.draw(words_of(taken))
    usual = read_usual(taken, words)
    if usual is not None:
        by_hand = given_type()
        vars(by_hand).update(usual)
        by_argparse = given_type()
        assert with_argparse(taken, words, by_argparse) is not None, words
        # As the command sees them: by attribute, the defaults included.
        for field in fields(taken):
            hand, parser = getattr(by_hand, field), getattr(by_argparse, field)
            assert (repr(hand), type(hand)) == (repr(parser), type(parser)), (words, field)


def fields(taken: Arguments) -> list[str]:
    """Every attribute that the command's arguments are given as."""
    return [taken.operand, *(option.field for option in taken.options)]


@COMMANDS
def test_every_argument_has_its_attribute(taken: Arguments, given_type: type) -> None:
    assert sorted(given_type.__annotations__) == sorted(fields(taken))
    required = {option.field for option in taken.options if option.required}
    assert set(given_type.__annotations__) - set(vars(given_type)) == required


USUAL_SENDS = [
    (["--session", "s", "hello there"], {"session": "s", "text": "hello there"}),
    (["hello", "--session=s"], {"session": "s", "text": "hello"}),
    (["--session", "s"], {"session": "s"}),
    (["--session", "s", "-"], {"session": "s", "text": "-"}),
    (["--session", "s", ""], {"session": "s", "text": ""}),
    (["--session", "a", "--session", "b"], {"session": "b"}),
    (["--session=", "x"], {"session": "", "text": "x"}),
    (["--session", "s", "--created-at=a=b"], {"session": "s", "created_at": "a=b"}),
    (["--session", "s", "--role", "assistant", "--turn-end"], {"role": "assistant", "turn_end": True}),
    (["--session", "s", "--wait", "2.5", "--no-drop", "--ndjson"], {"wait": 2.5, "no_drop": True}),
]


@pytest.mark.parametrize(("words", "expected"), USUAL_SENDS)
def test_what_hooks_send_is_read_by_hand(words: list[str], expected: dict[str, object]) -> None:
    usual = read_usual(send.TAKEN, words)
    assert usual is not None
    assert usual.items() >= expected.items()


def test_what_hooks_recall_is_read_by_hand() -> None:
    words = [
        "--session",
        "s",
        "--tokens",
        "500",
        "--sections",
        "summary,dialectic",
        "--wait-ms=800",
        "--peek",
        "q",
    ]
    assert read_usual(recall.TAKEN, words) == {
        "session": "s",
        "tokens": 500,
        "sections": ["summary", "dialectic"],
        "wait_ms": 800,
        "peek": True,
        "query": "q",
    }


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["hello"],
        ["--help"],
        ["-h", "--session", "s"],
        ["--session", "s", "--nope"],
        ["--sess", "s"],
        ["--session"],
        ["--session", "s", "--id", "--json"],
        ["--session", "s", "--id", "-5"],
        ["--session", "s", "--id", "-"],
        ["--session", "s", "--", "-x"],
        ["--session", "s", "-x"],
        ["--session", "s", "--json=1"],
        ["--session", "s", "--role", "system"],
        ["--session", "s", "--wait", "soon"],
        ["--session", "s", "--wait", "86401"],
        ["--session", "s", "two", "texts"],
    ],
)
def test_argparse_has_the_last_word_on_everything_else(words: list[str]) -> None:
    assert read_usual(send.TAKEN, words) is None


def test_argparse_reads_what_is_left_to_it() -> None:
    words = ["--session", "s", "--id", "-5", "--json", "--", "-text"]
    given = parse(send.TAKEN, words, send.Given())
    assert (given.session, given.id, given.json, given.text) == ("s", "-5", True, "-text")
    assert (given.role, given.quiet, given.wait) == (None, False, 0.0)


def test_a_value_out_of_bounds_is_told_in_the_words_of_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    for taken, words, told in [
        (send.TAKEN, ["--session", "s", "--wait", "-1"], "--wait: from 0 to 86400 seconds"),
        (send.TAKEN, ["--session", "s", "--wait", "soon"], "--wait: invalid _seconds value: 'soon'"),
        (recall.TAKEN, ["--session", "s", "--wait-ms", "60001"], "--wait-ms: from 0 to 60000 milliseconds"),
        (recall.TAKEN, ["--session", "s", "--sections", "x"], "--sections: no such section: 'x'"),
        (recall.TAKEN, ["--session", "s", "--tokens", "many"], "--tokens: invalid int value: 'many'"),
    ]:
        with pytest.raises(SystemExit):
            parse(taken, words, send.Given())
        assert told in capsys.readouterr().err

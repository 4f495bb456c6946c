from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from honchod.capture.chunk import CONTINUED, chunks

LIMIT = 25_000


def without_markers(pieces: list[str]) -> str:
    assert all(piece.startswith(CONTINUED) for piece in pieces[1:])
    return pieces[0] + "".join(piece[len(CONTINUED) :] for piece in pieces[1:])


@pytest.mark.parametrize(("length", "count"), [(0, 1), (1, 1), (25_000, 1), (25_001, 2), (60_000, 3)])
def test_as_many_pieces_as_needed(length: int, count: int) -> None:
    text = "x" * length

    pieces = chunks(text, LIMIT)

    assert len(pieces) == count
    assert max(map(len, pieces)) <= LIMIT
    assert without_markers(pieces) == text


@pytest.mark.parametrize("length", [25_001, 60_000])
def test_the_paragraph_at_half_is_taken_and_not_the_one_at_a_fifth(length: int) -> None:
    text = ("a" * 4_998 + "\n\n" + "b" * 7_498 + "\n\n").ljust(length, "c")

    pieces = chunks(text, LIMIT)

    assert len(pieces[0]) == 12_500
    assert pieces[0].endswith("b\n\n")
    assert len(pieces) == (2 if length == 25_001 else 3)
    assert without_markers(pieces) == text


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("a" * 40 + "\n\n" + "b. b b " * 20, "a" * 40 + "\n\n"),
        ("a" * 40 + ". " + "b b b b b " * 20, "a" * 40 + ". "),
        ("a" * 40 + "\n" + "b b b b b " * 20, "a" * 40 + "\n"),
        ("a" * 40 + " " + "b" * 200, "a" * 40 + " "),
        ("a" * 20 + "\n\n" + "b" * 200, "a" * 20 + "\n\n" + "b" * 78),
        ("a" * 40 + "。" + "b" * 200, "a" * 40 + "。"),
        ("a" * 40 + '?" ' + "b" * 200, "a" * 40 + '?" '),
        ("a" * 40 + ".5" + "b" * 200, "a" * 40 + ".5" + "b" * 58),
        ("a" * 99 + " " + "b" * 200, "a" * 99 + " "),
        ("a" * 100 + " " + "b" * 200, "a" * 100),
        ("a" * 99 + "\n\n" + "b" * 200, "a" * 99),
        ("a" * 100 + "\n\n" + "b" * 200, "a" * 100),
    ],
)
def test_a_piece_ends_where_a_reader_would_cut(text: str, first: str) -> None:
    pieces = chunks(text, 100)

    assert pieces[0] == first
    assert without_markers(pieces) == text


@pytest.mark.parametrize(
    "character",
    [
        "e\u0301",
        "a\u0308\u0323",
        "👍🏽",
        "👩‍👩‍👧‍👦",
        "❤️",
        "🇩🇪",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "각",
        "\u1112\u1161\u11ab",
        "1️⃣",
        "नी",
        "\r\n",
    ],
)
def test_no_combined_character_is_split(character: str) -> None:
    for offset in range(len(character) + 1):
        text = "x" * offset + character * 60

        pieces = chunks(text, 40)

        assert without_markers(pieces) == text
        for piece in pieces[1:]:
            assert piece[len(CONTINUED) :].startswith(character)


def test_a_character_longer_than_a_piece_is_cut_all_the_same() -> None:
    text = "e" + "\u0301" * 200

    pieces = chunks(text, 40)

    assert without_markers(pieces) == text
    assert max(map(len, pieces)) <= 40


def test_there_must_be_room_for_the_marker() -> None:
    assert without_markers(chunks("abcdef" * 3, len(CONTINUED) + 1)) == "abcdef" * 3
    with pytest.raises(ValueError, match="over"):
        chunks("abc", len(CONTINUED))


@pytest.mark.slow
def test_a_lot_of_anything_takes_a_moment() -> None:
    for piece in ("\n", " ", "a", "\u0301", "🇩", ". ", "\u200d", "。"):
        text = piece * (200_000 // len(piece))

        assert without_markers(chunks(text, LIMIT)) == text


PIECES = st.sampled_from(
    ["a", "b ", ". ", "\n", "\n\n", "\r\n", "e\u0301", "🇩🇪", "👩‍👧", "각", "。", "\u200b", "\t"]
)


@given(st.lists(PIECES, max_size=120).map("".join) | st.text(max_size=120), st.integers(13, 60))
@example(" \u0301" * 30, 13)
@example("[continued] " * 9, 20)
def test_nothing_is_lost_and_nothing_is_too_long(text: str, max_chars: int) -> None:
    pieces = chunks(text, max_chars)

    assert without_markers(pieces) == text
    assert all(0 < len(piece) <= max_chars for piece in pieces) or text == ""
    assert all(len(piece) > len(CONTINUED) for piece in pieces[1:])


@given(st.lists(PIECES, min_size=1, max_size=120).map("".join), st.integers(30, 60))
def test_no_piece_begins_with_a_combining_mark(text: str, max_chars: int) -> None:
    for piece in chunks(text, max_chars)[1:]:
        assert unicodedata.combining(piece[len(CONTINUED)]) == 0

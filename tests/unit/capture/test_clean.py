from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honchod.capture.clean import CONTROL_TOKENS, well_formed, without_control_tokens, without_recalled

OPEN, CLOSE = "<memory-context>", "</memory-context>"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"{OPEN}\nBackground.\n{CLOSE}\n\nWhere do I live?", "Where do I live?"),
        (f"Where do I live?\n\n{OPEN}old{CLOSE}", "Where do I live?"),
        (f"{OPEN}old recalled fact{CLOSE}Keep this", "Keep this"),
        (f"a {OPEN}x{CLOSE}b {OPEN}y{CLOSE}c", "a b c"),
        (f"a{OPEN}x{OPEN}y{CLOSE}z{CLOSE}b", "ab"),
        (f"{OPEN}x{OPEN}y{CLOSE}z", ""),
        (f"hello\n{OPEN}\nnever closed", "hello"),
        (f"hello {OPEN}\nnever closed", "hello"),
        (f"  {OPEN} never closed", ""),
        (f"{CLOSE}hello{CLOSE}", "hello"),
        (f"</memory-{CLOSE}context>hello", "hello"),
        (f"<memory-{OPEN}x{CLOSE}context>evil{CLOSE}hello", "hello"),
        ("<MEMORY-Context>x</ memory-context >hello", "hello"),
        ('<memory-context source="honcho">x</memory-context>hello', "hello"),
    ],
)
def test_recalled_blocks_go(text: str, kept: str) -> None:
    assert without_recalled(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "what is memory-context?",
        f"why does `{OPEN}` appear in my prompt?",
        f"'{OPEN}' and '{CLOSE}' are the tags",
        "<memory-contexts>is another tag</memory-contexts>",
        "a < b > c, memory-context",
        "  untouched \n",
    ],
)
def test_a_sentence_about_the_tag_stays(text: str) -> None:
    assert without_recalled(text) == text


def test_a_tag_in_the_middle_of_a_sentence_goes_alone() -> None:
    assert without_recalled(f"the {OPEN} tag shows up") == "the  tag shows up"


PIECES = st.sampled_from(
    [
        OPEN,
        CLOSE,
        "<memory-",
        "context>",
        "</memory-",
        "<",
        ">",
        "/",
        "`",
        '"',
        "\n",
        " ",
        "text",
        "memory-context",
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_no_unquoted_tag_survives_and_a_second_time_changes_nothing(text: str) -> None:
    kept = without_recalled(text)

    assert without_recalled(kept) == kept
    for tag in re.finditer(r"</?memory-context>", kept):
        around = kept[tag.start() - 1 : tag.start()], kept[tag.end() : tag.end() + 1]
        assert around[0] in {"`", '"'}


@pytest.mark.timed
@pytest.mark.parametrize(
    "piece",
    [OPEN, CLOSE, OPEN + CLOSE, "<memory-", f"</memory-{CLOSE}", "memory-context>", "<", ">", f"`{OPEN}"],
)
def test_many_tags_take_linear_time(piece: str) -> None:
    text = "<memory-context>" + piece * (200_000 // len(piece))
    started = time.process_time()

    without_recalled(text)

    assert time.process_time() - started < 5.0


def test_nul_and_lone_surrogates_become_harmless() -> None:
    assert well_formed("a\0b") == "ab"
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert well_formed("\udc00") == "\ufffd"
    assert well_formed("\ud83d\ude00!") == "\U0001f600!"


def test_good_text_stays_as_it_is() -> None:
    text = "Größe 𝄞 👩‍👩‍👧 \ufffd\ufeff\n"

    assert well_formed(text) is text


@given(st.text(alphabet=st.characters()))
def test_any_text_can_be_encoded_afterwards(text: str) -> None:
    clean = well_formed(text)

    clean.encode()
    assert "\0" not in clean
    assert well_formed(clean) == clean


@pytest.mark.parametrize("token", CONTROL_TOKENS)
def test_control_tokens_are_broken_visibly_unchanged(token: str) -> None:
    broken = without_control_tokens(f"a {token}{token} b")

    assert token not in broken
    assert broken.replace("\u200b", "") == f"a {token}{token} b"
    assert without_control_tokens(broken) == broken


def test_what_only_resembles_a_control_token_stays() -> None:
    text = "<|im_end|> <|ENDOFTEXT|> <|endoftext> endoftext"

    assert without_control_tokens(text) == text

"""What lets a text pass without a look decides as a look would have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from secret_corpus import INNOCENT, PLANTED, Planted

from honchod.capture.secret import blocks, commands
from honchod.capture.secret.credentials import CREDENTIALS
from honchod.capture.secret.finders import _NUMBERS, find_all, find_secrets, holds_none
from honchod.capture.secret.names import CLUES
from honchod.capture.secret.providers import PROVIDER_KEYS
from honchod.capture.secret.shape import Prefixed
from honchod.capture.secret.spans import Haystack, Span, dense, lower
from honchod.capture.secret.speech import is_plain_speech
from honchod.capture.secret.words import any_of, has_long_word

NAMES = ["password", "pass", "pw", "PGPASSWORD", "API key", "api_token", "secret", "auth", "mnemonic", "密码"]
LINKS = [
    " is ",
    " was ",
    " to ",
    " are ",
    " as ",
    " ",
    "  ",
    "\n",
    "\t",
    "\u00a0",
    ": ",
    "=",
    " = ",
    "：",
    "→",
]
VALUES = [
    *("swordfish", "sword-fish", "SwordFish", "aBcDeFgHiJkL", "aBcDeFgHiJkLm", "abcdefghijklmnopqrstuvwxyz"),
    *("hunter", "hunter2", "123456", "١٢٣٤٥٦", "correct horse", "pass/phrase", "YWFhOmJj", "aaa", "a-b"),
]
AROUND = [
    *(
        "-",
        "--",
        "-----",
        " -",
        " --",
        "_",
        ".",
        ".-",
        "'-",
        "é-",
        "—-",
        "(",
        ")",
        "'",
        '"',
        "`",
        "*",
        "/",
        "&",
    ),
    *(
        ",",
        ";",
        "!",
        "?",
        "<",
        ">",
        "\0",
        "\x1c",
        "\x85",
        "\u2028",
        "\ud800",
        "ﬁ",
        "ſ",
        "b",
        "x" * 12,
        "x" * 13,
    ),
]
COMMANDS = [
    *("login bob", "machine host login bob ", "basic", "Basic", "BASİC ", "bearer ", "BEARER "),
    *("mysql ", "curl ", "docker login ", "redis-cli ", "-p", "-u bob:", " -a ", "--user=bob:"),
    *("BEGIN PRIVATE KEY", "PRIVATE KEY", "Private-Lines: 8\n", "\u212aey", "to\u212aen", "coo\u212aie: "),
]
SPEECH = [
    *(
        "I",
        "moved",
        "to",
        "Lisbon,",
        "the",
        "well-known",
        "café",
        "naïve",
        "—",
        "…",
        "it’s",
        "you",
        "and",
        ".",
    ),
    *("квартира", "пароль", "星期四", "don't", "(maybe)", "and/or", "snake_case"),
]
WORDS = st.sampled_from([*NAMES, *LINKS, *VALUES, *AROUND, *COMMANDS, *SPEECH, *CLUES])
FRAGMENTS = st.sampled_from([planted.text for planted in PLANTED] + INNOCENT)
SPOKEN = st.lists(st.sampled_from(SPEECH), max_size=6).map(" ".join)
GIVEN_AWAY = st.tuples(SPOKEN, *map(st.sampled_from, ([*AROUND, " "], NAMES, LINKS, VALUES)), SPOKEN).map(
    "".join
)
NUMBERS = st.text("0189afk-\n", min_size=1) | st.sampled_from(["ACCA", "dapi", "-us1", "key"])
TEXTS = (
    GIVEN_AWAY
    | st.lists(
        st.sampled_from([*VALUES[6:8], "acca", "dapi", "-us1"]) | st.text("0189afk-\n", min_size=1)
    ).map("".join)
    | st.lists(WORDS | st.text(max_size=3), max_size=12).map("".join)
    | st.lists(WORDS, max_size=8).map(" ".join)
    | st.lists(SPOKEN | FRAGMENTS | WORDS, max_size=4).map("\n".join)
)


def shape_hints() -> Iterator[str]:
    for shape in (*PROVIDER_KEYS, *CREDENTIALS):
        yield from shape.prefixes if isinstance(shape, Prefixed) else shape.hints


def found_by_all(text: str) -> list[Span]:
    return find_all(Haystack(text, lower(text), dense(text)))


@pytest.mark.slow
@settings(max_examples=1500)
@given(TEXTS)
@example("a----BEGIN KEY----")
@example("basic YWFhOmJj")
@example("machine host login bob password swordfish")
@example("(-password swordfish")
@example("—-password swordfish")
@example("my password is aBcDeFgHiJkLm")
@example("my password is ١٢٣٤٥٦")
@example("my BASİC YWFhOmJj")
def test_a_look_that_was_spared_would_have_found_nothing(text: str) -> None:
    assert find_secrets(text) == found_by_all(text)


@pytest.mark.slow
@settings(max_examples=500)
@given(st.lists(TEXTS, max_size=4))
def test_texts_that_pass_together_hold_nothing_one_by_one(texts: list[str]) -> None:
    if holds_none("\n".join(texts)):
        assert [found_by_all(text) for text in texts] == [[]] * len(texts)


def test_no_hint_is_written_in_what_is_passed_by_as_numbers() -> None:
    hints = {*CLUES, *blocks.HINTS, *commands.HINTS, *shape_hints()}
    assert len(hints) > 100
    assert not [hint for hint in hints if not hint.strip(_NUMBERS)]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind[:60])
def test_a_planted_secret_never_passes(planted: Planted) -> None:
    for text in (planted.text, f"I moved to Lisbon.\n{planted.text}\nThat is all."):
        assert found_by_all(text)
        assert not holds_none(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I moved to Lisbon last spring, and the flat (near the river) has two rooms.",
        "Don't tell the author that I know his password or his API key!",
        "The well-known café — naïve, isn't it?\n\nYes/no: \N{RIGHT SINGLE QUOTATION MARK}".replace(":", ""),
        "Я живу у реки.",
    ],
)
def test_plain_speech_passes(text: str) -> None:
    assert is_plain_speech(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        *("a1", "a: b", "a=b", "<a>", "use -p", "-p", "a--b", "a login", "Basic", "x" * 13, "a：b", "a→b"),
        *("é" * 13, "١", "\u212aey", "a$b", "a@b", "a\0b"),
    ],
)
def test_what_may_tell_of_a_secret_is_no_plain_speech(text: str) -> None:
    assert not is_plain_speech(text.encode())


@pytest.mark.parametrize(
    "text", ["many-3-1234", "01890a5d-ac96-774b-bcce-b302099a8057", "room 12: two keysets"[:11]]
)
def test_what_has_no_telling_word_passes_too(text: str) -> None:
    assert holds_none(text)


LETTERS = st.text(st.sampled_from("abkq-é码"), min_size=1, max_size=4)


@given(st.lists(LETTERS, min_size=1, max_size=6), st.text(st.sampled_from("abkq-é码 "), max_size=12))
def test_any_word_is_found_wherever_it_stands(words: list[str], text: str) -> None:
    assert (any_of(words).search(text) is not None) == any(word in text for word in words)


@given(st.text(st.sampled_from("ab é码\n\u00a0"), max_size=24), st.integers(1, 8))
def test_a_long_word_is_never_overlooked(text: str, chars: int) -> None:
    longest = max((len(word) for word in text.split()), default=0)
    assert has_long_word(text.encode(), chars) or longest < chars
    if "\u00a0" not in text:
        assert has_long_word(text.encode(), chars) == (longest >= chars)

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_corpus import INNOCENT, PLANTED, Planted, random_text

from honchod.capture.redact import Redactor

REDACTOR = Redactor()
PASSWORD = "Super" + "Secret123"


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind[:60])
def test_a_planted_secret_leaves_no_trace(planted: Planted) -> None:
    hidden = REDACTOR.text(planted.text)

    assert "[redacted:" in hidden
    rest = re.sub(r"\[redacted:[a-z0-9_]+\]", "", hidden)
    assert planted.secret not in rest
    assert not any(planted.secret[at : at + 8] in rest for at in range(len(planted.secret) - 7))
    assert REDACTOR.text(hidden) == hidden


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind[:60])
def test_a_planted_secret_is_found_inside_a_longer_message(planted: Planted) -> None:
    message = f"Hi,\n\nI moved to Lisbon.\n{planted.text}\nThat is all, the tests are green."

    hidden = REDACTOR.text(message)

    assert planted.secret not in hidden
    assert hidden.startswith("Hi,\n\nI moved to Lisbon.\n")
    assert hidden.endswith("\nThat is all, the tests are green.")


@pytest.mark.parametrize("text", INNOCENT, ids=lambda text: text[:60])
def test_an_innocent_look_alike_stays(text: str) -> None:
    assert REDACTOR.text(text) == text


def test_the_corpus_is_as_wide_as_promised() -> None:
    assert len({planted.kind for planted in PLANTED}) >= 150
    assert len(set(INNOCENT)) >= 100


def test_what_surrounds_a_secret_stays() -> None:
    text = f"export PGPASSWORD={PASSWORD}; psql -h db"

    assert REDACTOR.text(text) == "export PGPASSWORD=[redacted:password]; psql -h db"


def test_only_the_password_of_a_url_goes() -> None:
    assert REDACTOR.text(f"postgres://bob:{PASSWORD}@db/x") == "postgres://bob:[redacted:url_password]@db/x"


def test_two_secrets_in_one_line_both_go() -> None:
    token = "gh" + "p_" + random_text("two", 36)

    hidden = REDACTOR.text(f"GITHUB_TOKEN={token} PGPASSWORD={PASSWORD} make")

    assert hidden == "GITHUB_TOKEN=[redacted:github_token] PGPASSWORD=[redacted:password] make"


def test_the_more_telling_kind_names_a_secret_found_twice() -> None:
    token = "gh" + "p_" + random_text("kind", 36)

    assert REDACTOR.text(f"token: {token}") == "token: [redacted:github_token]"


@pytest.mark.parametrize(
    "template", ["token={}", "token: {}", '{{"token": "{}"}}', "TOKEN='{}' x", "my token is {}"]
)
def test_a_long_secret_goes_to_its_end(template: str) -> None:
    secret = random_text("long", 5_000)

    assert REDACTOR.text(template.format(secret)) == template.format("[redacted:token]")


def test_an_end_line_without_its_begin_line_is_no_key() -> None:
    end, begin = "-----END PRIVATE" + " KEY-----", "-----BEGIN PRIVATE" + " KEY-----"

    assert (
        REDACTOR.text(f"{end} closes what {begin} opens") == f"{end} closes what [redacted:private_key] opens"
    )


def test_a_secret_that_only_shows_once_another_is_gone_goes_too() -> None:
    user = "gh" + "p_" + random_text("user", 150)

    hidden = REDACTOR.text(f"machine host login {user} password swordfish")

    assert hidden == "machine host login [redacted:github_token] password [redacted:password]"


def test_values_hide_strings_at_any_depth_and_keep_the_rest() -> None:
    token = "gh" + "p_" + random_text("deep", 36)
    value = {"a": [1, 2.5, None, True, {"b": f"see {token}"}], "n": 7}

    assert REDACTOR.value(value) == {"a": [1, 2.5, None, True, {"b": "see [redacted:github_token]"}], "n": 7}


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        ({"api_key": "abc"}, {"api_key": "[redacted:key]"}),
        ({"apiKey": "see vault"}, {"apiKey": "[redacted:key]"}),
        ({"password": 123456}, {"password": "[redacted:password]"}),
        ({"token": 500}, {"token": 500}),
        ({"password": None, "secret": True}, {"password": None, "secret": True}),
        ({"password": ""}, {"password": ""}),
        ({"Authorization": "Bearer x"}, {"Authorization": "[redacted:token]"}),
        (
            {"credentials": {"u": "bob", "p": ["x", "y"]}},
            {"credentials": {"u": "[redacted:secret]", "p": ["[redacted:secret]"] * 2}},
        ),
        ({"name": "DB_PASSWORD", "value": "x1"}, {"name": "DB_PASSWORD", "value": "[redacted:password]"}),
        ({"max_tokens": 5, "token_count": "6"}, {"max_tokens": 5, "token_count": "6"}),
        ({"password": "${PW}"}, {"password": "${PW}"}),
        ({"pass": "swordfish"}, {"pass": "[redacted:pass]"}),
        ({"pass": "12 tests", "fail": 0}, {"pass": "12 tests", "fail": 0}),
    ],
)
def test_values_know_the_names_of_secrets(value: object, hidden: object) -> None:
    assert REDACTOR.value(value) == hidden
    assert REDACTOR.value(hidden) == hidden


def test_secrets_in_keys_go_and_no_key_is_lost() -> None:
    one, two = ("gh" + "p_" + random_text(seed, 36) for seed in ("one", "two"))

    hidden = REDACTOR.value({one: 1, two: 2})

    assert hidden == {"[redacted:github_token]": 1, "[redacted:github_token]#2": 2}


def test_nesting_has_an_end() -> None:
    value: object = "ghp_" + "a1" * 20
    for _ in range(5_000):
        value = [value]

    assert "ghp_" not in str(REDACTOR.value(value))


def test_metadata_is_not_changed_in_place() -> None:
    value = {"password": "x", "list": ["y"]}

    REDACTOR.value(value)

    assert value == {"password": "x", "list": ["y"]}


FRAGMENTS = st.sampled_from(
    [planted.text for planted in PLANTED]
    + INNOCENT
    + [
        " ",
        "\n",
        "=",
        ":",
        '"',
        "'",
        "://",
        "@",
        "password",
        "token=",
        "[redacted:x]",
        "[redacted:",
        "]",
        "\\",
        "`",
    ]
)


@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=8).map("".join))
def test_redaction_is_idempotent(text: str) -> None:
    once = REDACTOR.text(text)

    assert REDACTOR.text(once) == once


@given(st.text(alphabet=st.characters()))
def test_no_text_makes_it_raise(text: str) -> None:
    REDACTOR.text(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda children: (
            st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=12), children, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_no_json_value_makes_it_raise(value: object) -> None:
    REDACTOR.value(value)


BLOW_UPS = [
    "a",
    "A1",
    " ",
    "\n",
    "=",
    ":",
    '"',
    '\\"',
    "-",
    ".",
    "a.",
    "a-",
    "a=",
    "key=",
    "apikey=",
    "password=",
    "password: ",
    "password ",
    'password="',
    "password is ",
    "password=$(",
    "token=token ",
    "my token is ",
    "--password ",
    "<password>",
    "<password ",
    "name: password, value: ",
    "login a password ",
    "sk-",
    "sk-sk-a",
    "sk-ant-",
    "ghp_",
    "eyJ",
    "eyJaaaaaaaa.",
    "SG.",
    "SG.aaaaaaaaaaaaaaaa",
    "AKIA",
    "://",
    "://a",
    "://a:",
    "://a:b@",
    "a://:",
    "&",
    "&a-",
    "&sig=",
    "?a_",
    "Bearer ",
    "basic ",
    "authorization: ",
    "authorization: token ",
    "cookie: ",
    "cookie: a=",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "Private-Lines: 1\n",
    "mysql ",
    "mysql -p",
    "curl ",
    "curl -u a:",
    "docker login ",
    "$2b$",
    ":AA",
    "1:AA",
    "M.",
    "Maaaaaaaaaaaaaaaaaaaaaaaa.",
    "Q~",
    "-us1",
    "[redacted:",
    "[redacted:x]",
    "hooks.slack.com/",
    "密码：",
    "İ",
    "\U0001f600",
]


@pytest.mark.timed
@pytest.mark.parametrize("piece", BLOW_UPS)
def test_no_input_blows_up(piece: str) -> None:
    seconds = _seconds_for(piece * (20_000 // len(piece)))

    assert seconds < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("piece", BLOW_UPS)
def test_a_long_text_takes_seconds_at_worst(piece: str) -> None:
    # Where each character is looked at again from each other one, this would take minutes.
    assert _seconds_for(piece * (250_000 // len(piece))) < 5.0


def _seconds_for(text: str) -> float:
    started = time.process_time()
    REDACTOR.text(text)
    return time.process_time() - started

"""Secrets in names: gone, and the names still apart and the same every time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_corpus import PLANTED, Planted, random_text

from honchod.capture.naming import NameRedactor
from honchod.capture.own_patterns import OwnPattern
from honchod.capture.redact import Redactor
from honchod.errors import RedactionFailed
from honchod.identity.names import clean, session_id

NAMES = NameRedactor(Redactor(), b"salt of a database")
TOKEN = "gh" + "p_" + random_text("name", 36)
OTHER = "gh" + "p_" + random_text("other name", 36)


@pytest.mark.parametrize("planted", PLANTED[::3], ids=lambda planted: planted.kind[:60])
def test_a_secret_leaves_a_name_and_the_name_stays_a_name(planted: Planted) -> None:
    hidden = NAMES.hide_once(planted.text[:512])
    assert planted.secret[:100] not in hidden
    for name in (clean(hidden), session_id(clean(hidden), 3)):
        assert NAMES.hide_once(name) == name, "what a caller was told is taken as it is"


def test_names_that_differ_only_in_their_secret_stay_apart() -> None:
    assert NAMES.hide(f"chat {TOKEN}") != NAMES.hide(f"chat {OTHER}")


def test_the_same_name_is_hidden_the_same_way_by_everybody_with_the_salt() -> None:
    again = NameRedactor(Redactor(), b"salt of a database")
    assert NAMES.hide(f"chat {TOKEN}") == again.hide(f"chat {TOKEN}") == NAMES.hide(f"chat {TOKEN}")


def test_nobody_without_the_salt_can_try_secrets_on_it() -> None:
    elsewhere = NameRedactor(Redactor(), b"another salt")
    assert elsewhere.hide(f"chat {TOKEN}") != NAMES.hide(f"chat {TOKEN}")


@given(st.text(alphabet=st.characters(categories=("Lu", "Ll")), max_size=60))
def test_a_name_without_a_secret_is_as_it_was(name: str) -> None:
    assert NAMES.hide(name) == name


@pytest.mark.parametrize(
    "name", ["agent:main:telegram:dm:123456789", "chat-7f3a", "/home/ann/project", "a b"]
)
def test_session_keys_of_runtimes_are_no_secrets(name: str) -> None:
    assert NAMES.hide(name) == name


def test_without_redaction_a_name_is_as_it_was() -> None:
    assert NameRedactor(None, b"salt").hide(TOKEN) == TOKEN


def test_a_redactor_that_raises_fails_the_name_without_quoting_it() -> None:
    failing = NameRedactor(
        Redactor([OwnPattern(r"(?P<secret>\w)(?=\[redacted:|$)", "capture.patterns[0]")]), b"salt"
    )
    with pytest.raises(RedactionFailed) as failed:
        failing.hide("swordfish" * 50)
    assert "swordfish" not in str(failed.value)


def test_only_the_last_names_are_remembered() -> None:
    names = NameRedactor(Redactor(), b"salt")
    for number in range(5_000):
        names.hide(f"n{number}")
    assert len(names._known) == 4096

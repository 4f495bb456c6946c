from __future__ import annotations

import copy
import pickle

import msgspec
import pytest

from honchod.identity.host import Destination
from honchod.identity.secret import Secret

VALUE = "hch-" + "v3-" + "0123456789abcdefWXYZ"


def test_no_way_of_showing_a_secret_shows_it() -> None:
    secret = Secret(VALUE)
    destination = Destination("http://h", secret)
    shown = [str(secret), repr(secret), f"{secret}", f"{secret!r:>40}", f"{destination}", f"{[secret]}"]
    assert not any(VALUE[4:] in text for text in shown)


def test_only_reveal_gives_the_value() -> None:
    assert Secret(VALUE).reveal() == VALUE


def test_a_hint_is_four_characters_and_nothing_of_a_short_secret() -> None:
    assert Secret(VALUE).hint == "…WXYZ"
    assert Secret("short").hint == "…"


@pytest.mark.parametrize("store", [pickle.dumps, copy.copy, copy.deepcopy, msgspec.json.encode])
def test_a_secret_is_not_copied_or_stored(store: object) -> None:
    with pytest.raises(TypeError):
        store(Secret(VALUE))  # type: ignore[operator]


def test_secrets_are_equal_by_value() -> None:
    assert Secret(VALUE) == Secret(VALUE)
    assert Secret(VALUE) != Secret("other")
    assert Secret(VALUE) != VALUE
    assert len({Secret(VALUE), Secret(VALUE), Secret("other")}) == 2

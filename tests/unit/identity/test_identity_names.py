from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from honchod.identity.names import MAX_LEN, MIN_MAX_LEN, apart, clean, is_valid, session_id

HONCHO_ID = re.compile(r"[a-zA-Z0-9_-]{1,100}")
any_name = st.text(st.characters(), max_size=300) | st.text(st.sampled_from("ab.-_!: \udc80é"), max_size=130)
valid_name = st.from_regex(HONCHO_ID, fullmatch=True)


@given(any_name)
@example("")
@example("*")
@example("a\n")
@example("\ud800")
def test_a_cleaned_name_is_always_a_honcho_id(name: str) -> None:
    assert HONCHO_ID.fullmatch(clean(name))


@given(any_name)
def test_cleaning_twice_changes_nothing_more(name: str) -> None:
    assert clean(clean(name)) == clean(name)


@given(valid_name)
def test_a_valid_name_stays_as_it_is(name: str) -> None:
    assert clean(name) == name


@given(any_name, any_name)
def test_two_names_get_two_ids_unless_one_is_the_id_of_the_other(one: str, other: str) -> None:
    assume(one != other)
    if clean(one) == clean(other):
        assert one == clean(other) or other == clean(one)


@given(any_name, st.integers(MIN_MAX_LEN, 512))
def test_a_cleaned_name_keeps_its_bound(name: str, max_len: int) -> None:
    assert is_valid(clean(name, max_len=max_len), max_len=max_len)


def test_ids_stay_the_same_for_ever() -> None:
    """Rows on disk and sessions at Honcho bear these names."""
    assert clean("a.b") == "a-b-4pv6wu5e5sasxphs"
    assert clean("") == "c6b4hp7lykbsphj3"
    assert session_id("chat-7f3a", 2) == "chat-7f3a-g2-a5bpbojxmptzci52"


def test_keys_that_differ_in_a_mark_or_behind_a_long_beginning_stay_apart() -> None:
    """Case C27."""
    key = "agent:main:telegram:group:-100" + "1" * 60 + "!user.name:thread:42:more"
    long = "k" * 120
    names = [key, long + "a" * 30, long + "b" * 30, "a.b", "a-b"]
    ids = [clean(name) for name in names]
    assert len(set(ids)) == len(names)
    assert all(HONCHO_ID.fullmatch(made) for made in ids)


def test_the_readable_part_of_a_name_is_kept() -> None:
    assert clean("agent:main:telegram").startswith("agent-main-telegram-")


def test_a_bound_without_room_for_the_hash_is_refused() -> None:
    with pytest.raises(ValueError, match="max_len"):
        clean("a", max_len=MIN_MAX_LEN - 1)


@given(any_name)
def test_the_first_generation_is_the_cleaned_key(key: str) -> None:
    assert session_id(key) == clean(key)


@given(any_name, st.integers(1, 10**9))
def test_a_generation_is_a_stable_honcho_id_of_its_own(key: str, generation: int) -> None:
    made = session_id(key, generation)
    assert HONCHO_ID.fullmatch(made)
    assert made == session_id(key, generation)
    assert f"g{generation}-" in made
    assert made not in {clean(key), session_id(key, generation + 1), clean(f"{key}-g{generation}")}


@given(any_name, any_name, st.integers(1, 50), st.integers(1, 50))
def test_generations_of_two_keys_never_meet(one: str, other: str, first: int, second: int) -> None:
    assume((one, first) != (other, second))
    assert session_id(one, first) != session_id(other, second)


@given(any_name)
def test_a_name_kept_apart_is_not_the_name(name: str) -> None:
    made = apart(name)
    assert HONCHO_ID.fullmatch(made)
    assert made not in {name, clean(name)}


def test_an_id_is_as_long_as_the_older_servers_take() -> None:
    assert len(clean("x" * 101)) == MAX_LEN

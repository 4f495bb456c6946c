"""Where a request belongs, whatever it says and however often its session was reset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from identity_hosts import Where, host_with

from honchod.errors import BadRequest
from honchod.identity.names import SessionName, is_valid, session_id
from honchod.identity.place import Places
from honchod.identity.sessions import SessionSource


@dataclass(frozen=True)
class Asked:
    session: str | None = None
    locator: Where | None = None
    scope: str | None = None


def places(*, hide: object = str, **generations: int) -> Places:
    known = {SessionName("h", "h", name): number for name, number in generations.items()}
    return Places(known, hide)  # type: ignore[arg-type]


def masked(name: str) -> str:
    return name.replace("secret", "xxx")


def test_a_session_that_was_never_reset_is_its_name() -> None:
    place = places().of(host_with(), Asked("chat-7", scope="a0-x"))
    assert (place.session, place.generation, place.source, place.scope) == (
        "chat-7",
        0,
        SessionSource.SESSION,
        "a0-x",
    )
    assert place.name == SessionName("h", "h", "chat-7")


def test_the_generation_that_is_known_is_used() -> None:
    place = places(s=2).of(host_with(), Asked("s"))
    assert (place.session, place.generation) == (session_id("s", 2), 2)


def test_a_reset_moves_on_and_never_back() -> None:
    known = places()
    host = host_with()
    name = known.of(host, Asked("s")).name
    known.advance(name, 3)
    known.advance(name, 2)
    assert known.of(host, Asked("s")).generation == 3
    assert known.of(host, Asked("t")).generation == 0


def test_a_session_is_the_same_by_its_key_and_by_its_id() -> None:
    known = places()
    host = host_with()
    by_key = known.of(host, Asked("chat:7!"))
    known.advance(by_key.name, 1)
    assert known.of(host, Asked("chat:7!")) == known.of(host, Asked(by_key.session))


@pytest.mark.parametrize(
    ("asked", "session"),
    [
        (Asked("my secret"), "my xxx"),
        (Asked(locator=Where(title="my secret")), "my xxx"),
        (Asked(locator=Where(platform_key="my secret")), "my xxx"),
        (Asked(locator=Where(cwd="/home/my secret")), "my xxx"),
    ],
)
def test_secrets_are_hidden_before_a_name_is_made(asked: Asked, session: str) -> None:
    place = places(hide=masked).of(host_with(scopeStrategy="project"), asked)
    assert place.session == session_id(session)
    assert "secret" not in f"{place.scope}"


def test_secrets_are_hidden_in_run_ids_and_scopes() -> None:
    host = host_with(sessionStrategy="per-session")
    place = places(hide=masked).of(host, Asked(locator=Where(run_id="secret1"), scope="secret2"))
    assert (place.session, place.scope) == ("xxx1", "xxx2")


def test_what_the_operator_mapped_is_taken_as_it_is(tmp_path: Path) -> None:
    host = host_with(sessions={str(tmp_path): "secret"})
    place = places(hide=masked).of(host, Asked(locator=Where(cwd=str(tmp_path))))
    assert place.session == "secret"


def test_a_new_way_to_hide_holds_from_then_on() -> None:
    known, host = places(), host_with()
    assert known.of(host, Asked("secret")).session == "secret"
    known.use(masked)
    assert known.of(host, Asked("secret")).session == "xxx"


def test_a_place_that_is_remembered_is_that_of_this_host_and_of_all_that_is_said() -> None:
    """What is found again is what somebody would find who has not been asked before."""
    known = places()
    hosts = [host_with(), host_with(scopeStrategy="project"), host_with()]
    asked = [
        Asked(session, locator, scope)
        for session in ("s", "t", None)
        for locator in (None, Where(title="s"), Where(cwd="/home/ann/p"))
        for scope in (None, "a", "b")
        if session or locator
    ]
    for host in hosts * 2:
        for one in asked:
            place = known.of(host, one)
            assert place == places().of(host, one)
            assert place.host is host


def test_only_so_many_places_are_remembered() -> None:
    known = places()
    host = host_with()
    for number in range(3000):
        assert known.of(host, Asked(f"s{number}")).session == f"s{number}"
    assert len(known._known) == 1024


def test_a_request_that_says_too_little_is_refused() -> None:
    with pytest.raises(BadRequest):
        places().of(host_with(), Asked())


@given(st.text(min_size=1, max_size=512), st.integers(0, 1000), st.integers(0, 1000))
def test_every_generation_of_every_key_has_a_valid_id_of_its_own(key: str, one: int, other: int) -> None:
    host = host_with()
    name = places().of(host, Asked(key)).name
    assert is_valid(name.id_of(one))
    assert (name.id_of(one) == name.id_of(other)) == (one == other)

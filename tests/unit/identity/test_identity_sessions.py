from __future__ import annotations

import posixpath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from identity_hosts import Where, host_with

from honchod.errors import BadRequest
from honchod.identity.sessions import SessionKey, normal_directory, session_key

PROJECT = "/home/u/project"
EVERYTHING = Where(cwd=f"{PROJECT}/src", title="Titled", platform_key="tg:1", run_id="run-1")


def git_top(directory: str) -> str | None:
    return PROJECT if directory == PROJECT or directory.startswith(f"{PROJECT}/") else None


def named(keys: dict[str, Any], where: Where, session: str | None = None) -> tuple[str, str]:
    found = session_key(host_with(**keys), session, where, git_top)
    return found.key, found.source.value


def test_what_the_caller_names_is_taken_as_it_is() -> None:
    keys = {"sessions": {"/": "all"}, "peerName": "u", "sessionPeerPrefix": True}
    assert named(keys, EVERYTHING, "chat!7") == ("chat!7", "session")
    assert session_key(host_with(), "chat", None, git_top) == SessionKey("chat", "session")


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (EVERYTHING, ("mapped", "map")),
        (Where(cwd="/tmp", title="Titled", platform_key="tg:1", run_id="r"), ("Titled", "title")),
        (Where(cwd="/tmp", platform_key="tg:1", run_id="r"), ("tg:1", "platform_key")),
        (Where(cwd="/tmp/", run_id="r"), ("tmp", "per-directory")),
    ],
)
def test_map_beats_title_beats_platform_key_beats_strategy(where: Where, found: tuple[str, str]) -> None:
    assert named({"sessions": {PROJECT: "mapped"}}, where) == found


@pytest.mark.parametrize(
    ("cwd", "found"),
    [
        ("/home/u/project", "project"),
        ("/home/u/project/", "project"),
        ("/home/u/project/src/deep", "src"),
        ("/home/u/project/src/../docs", "project"),
        ("/home/u/project2", "home"),
        ("/home/u", "home"),
        ("//home//u/project", "project"),
        ("/homeless", "everything"),
    ],
)
def test_the_longest_mapped_ancestor_counts_by_whole_segments(cwd: str, found: str) -> None:
    names = {
        "/": "everything",
        "/home/u/": "home",
        "/home/u/project": "project",
        "/home/u/project/src": "src",
    }
    assert named({"sessions": names}, Where(cwd=cwd)) == (found, "map")


@pytest.mark.parametrize(
    ("strategy", "where", "found"),
    [
        ("per-directory", Where(cwd=f"{PROJECT}/src", run_id="r"), ("src", "per-directory")),
        ("per-directory", Where(cwd="/"), ("/", "per-directory")),
        ("per-repo", Where(cwd=f"{PROJECT}/src"), ("project", "per-repo")),
        ("per-repo", Where(cwd="/tmp/x"), ("x", "per-directory")),
        ("per-session", Where(cwd="/tmp", run_id="r"), ("r", "per-session")),
        ("per-session", Where(run_id="r"), ("r", "per-session")),
        ("per-session", Where(cwd="/tmp"), ("tmp", "per-directory")),
        ("global", Where(cwd="/tmp", run_id="r"), ("h", "global")),
        ("global", Where(), ("h", "global")),
    ],
)
def test_the_strategy_names_what_nothing_else_names(
    strategy: str, where: Where, found: tuple[str, str]
) -> None:
    assert named({"sessionStrategy": strategy}, where) == found


@pytest.mark.parametrize("strategy", ["per-directory", "per-repo", "per-session", "global"])
def test_a_gateway_chat_keeps_its_own_session(strategy: str) -> None:
    keys = {"sessionStrategy": strategy, "sessionPeerPrefix": True, "peerName": "u"}
    assert named(keys, Where(cwd=PROJECT, platform_key="tg:1", run_id="r")) == ("tg:1", "platform_key")


def test_the_peer_goes_before_titles_and_strategies_only() -> None:
    keys = {"peerName": "u", "sessionPeerPrefix": True, "sessions": {"/mapped": "mapped"}}
    assert named(keys, Where(title="T")) == ("u-T", "title")
    assert named(keys, Where(cwd="/tmp/x")) == ("u-x", "per-directory")
    assert named({**keys, "sessionStrategy": "global"}, Where()) == ("u-h", "global")
    assert named(keys, Where(cwd="/mapped")) == ("mapped", "map")
    assert named({"sessionPeerPrefix": True}, Where(title="T")) == ("T", "title")


@pytest.mark.parametrize("strategy", ["per-directory", "per-repo", "per-session"])
def test_a_locator_that_says_too_little_is_refused(strategy: str) -> None:
    with pytest.raises(BadRequest, match=r"locator\.cwd"):
        named({"sessionStrategy": strategy}, Where())


@pytest.mark.parametrize("cwd", ["src", "./src", "~/src", "/a\0b"])
def test_a_directory_that_is_not_absolute_is_refused(cwd: str) -> None:
    with pytest.raises(BadRequest, match=r"locator\.cwd"):
        named({}, Where(cwd=cwd, platform_key="tg:1"))


def test_neither_session_nor_locator_is_refused() -> None:
    with pytest.raises(BadRequest, match="session"):
        session_key(host_with(), None, None, git_top)


segment = st.sampled_from(["a", "b", "ab", "a b", ".", "..", ""])


@given(st.lists(segment, max_size=6))
def test_a_directory_has_one_spelling(segments: list[str]) -> None:
    path = "/" + "/".join(segments)
    once = normal_directory(path)
    assert normal_directory(once) == once
    assert once == "/" or not once.endswith("/")
    assert not once.startswith("//")


@given(
    st.dictionaries(st.lists(st.sampled_from("abc"), max_size=4).map(tuple), st.just(""), max_size=6),
    st.lists(st.sampled_from("abc"), max_size=5),
)
def test_the_mapped_directory_is_the_nearest_one_upwards(
    mapped: dict[tuple[str, ...], str], cwd: list[str]
) -> None:
    names = {"/" + "/".join(path): f"name-{'-'.join(path)}" for path in mapped}
    directory = "/" + "/".join(cwd)
    above = [path for path in names if posixpath.commonpath([path, directory]) == path]
    found = named({"sessions": names}, Where(cwd=directory, run_id="r"))
    if above:
        assert found == (names[max(above, key=lambda path: len(path.strip("/")))], "map")
    else:
        assert found[1] == "per-directory"

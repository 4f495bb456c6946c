from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from identity_hosts import Where, host_with

from honchod.errors import BadRequest
from honchod.identity.choices import ScopeStrategy
from honchod.identity.host import Scopes
from honchod.identity.names import apart, clean, is_valid
from honchod.identity.scopes import MAX_LEN, scope_id, slug

HOST = host_with()
PROJECT = {"scopeStrategy": "project"}


def no_git(_directory: str) -> str | None:
    return None


def scoped(keys: dict[str, Any], scope: str | None = None, where: Where | None = None) -> str | None:
    return scope_id(host_with(**keys), scope, where, no_git)


@pytest.mark.parametrize("keys", [{}, PROJECT, {"scopeStrategy": "custom", "scopeCustom": "x"}])
def test_the_scope_a_caller_names_counts(keys: dict[str, Any]) -> None:
    assert scoped(keys, "a0-honchod", Where(cwd="/p")) == "a0-honchod"
    assert scoped(keys, "scope.mine") == clean("scope.mine")


def test_off_is_the_global_view() -> None:
    assert scoped({}, None, Where(cwd="/src/project")) is None
    assert scoped({"scopeStrategy": "off"}, None, Where(cwd="/src/project")) is None


def test_a_project_is_named_after_its_directory() -> None:
    assert scoped(PROJECT, None, Where(cwd="/src/Honcho-V2")) == "a0-honcho-v2"
    assert scoped({**PROJECT, "scopePrefix": "p-"}, None, Where(cwd="/src/x y")) == "p-x-y"
    assert scoped({**PROJECT, "scopePrefix": ""}, None, Where(cwd="/src/x")) == "x"


def test_a_project_is_named_after_its_git_top_level_where_there_is_one() -> None:
    assert scope_id(host_with(**PROJECT), None, Where(cwd="/src/p/deep"), lambda _: "/src/p") == "a0-p"


@pytest.mark.parametrize("where", [None, Where(), Where(title="t", platform_key="k", run_id="r")])
def test_without_a_directory_there_is_no_project(where: Where | None) -> None:
    assert scoped(PROJECT, None, where) is None


def test_a_custom_scope_is_one_for_all() -> None:
    keys = {"scopeStrategy": "custom", "scopeCustom": "team.x"}
    assert scoped(keys) == scoped(keys, None, Where(cwd="/p")) == clean("a0-team.x")


def test_a_relative_directory_is_refused() -> None:
    with pytest.raises(BadRequest):
        scoped(PROJECT, None, Where(cwd="p"))


def test_a_name_that_is_not_ascii_keeps_apart_from_what_is_left_of_it() -> None:
    assert slug("проект-a") == apart("проект-a")
    assert slug("проект-a") != slug("проба-a")
    assert slug("!!!") == apart("!!!")


@given(st.text(max_size=600), st.sampled_from(["", "a0-", "scope.", "x:"]))
def test_a_scope_is_always_an_id_that_honcho_takes(name: str, prefix: str) -> None:
    custom = dataclasses.replace(HOST, scopes=Scopes(ScopeStrategy.CUSTOM, prefix=prefix, custom="c" + name))
    project = dataclasses.replace(HOST, scopes=Scopes(ScopeStrategy.PROJECT, prefix=prefix, custom=""))
    directory = "/" + name.replace("\0", "")
    for made in (
        scope_id(HOST, name or "n", None, no_git),
        scope_id(custom, None, None, no_git),
        scope_id(project, None, Where(cwd=directory), no_git),
    ):
        assert made is not None
        assert is_valid(made, max_len=MAX_LEN)
        assert not made.startswith("scope.")

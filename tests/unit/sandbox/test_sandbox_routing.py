from __future__ import annotations

import pytest

from honchod.sandbox.auth import check_key
from honchod.sandbox.calls import Answer, Call, Paging, Route, cut_page
from honchod.sandbox.errors import Refused
from honchod.sandbox.ids import Ids, derived_id
from honchod.sandbox.records import path_ids
from honchod.sandbox.routing import Router


def named(name: str) -> Route:
    def handler(_: Call) -> Answer:
        return Answer(body=name.encode())

    method, template = name.split(" ")
    return Route(method, template, handler)


def test_a_literal_segment_beats_a_name_and_names_are_decoded() -> None:
    router = Router([named("GET /a/{x}"), named("GET /a/list"), named("POST /a/{x}")])
    assert router.find("GET", "/a/list").path == {}
    assert router.find("GET", "/a/b%20c").path == {"x": "b c"}
    assert router.find("POST", "/a/list").path == {"x": "list"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/a", 404), ("PUT", "/a/b", 405), ("GET", "/a/", 404), ("GET", "/", 404)],
)
def test_what_is_not_routed_is_404_or_405(method: str, path: str, status: int) -> None:
    with pytest.raises(Refused) as refused:
        Router([named("GET /a/{x}")]).find(method, path)
    assert refused.value.status == status


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        ("/v3/workspaces", ("", "")),
        ("/v3/workspaces/w", ("w", "")),
        ("/v3/workspaces/w/sessions/list", ("w", "")),
        ("/v3/workspaces/w/sessions/s", ("w", "s")),
        ("/v3/workspaces/w/sessions/a%2Eb/messages", ("w", "a.b")),
        ("/v3/workspaces/w/peers/p", ("w", "")),
        ("/health", ("", "")),
    ],
)
def test_a_path_tells_its_workspace_and_session(path: str, ids: tuple[str, str]) -> None:
    assert path_ids(path) == ids


def test_pages_are_cut_from_either_end() -> None:
    rows = list(range(5))
    page = cut_page(rows, Paging(page=2, size=2, reverse=False))
    assert (page.items, page.total, page.pages) == ([2, 3], 5, 3)
    assert cut_page(rows, Paging(1, 2, reverse=True)).items == [4, 3]
    assert cut_page(rows, Paging(9, 2, reverse=False)).items == []
    empty: list[int] = []
    assert cut_page(empty, Paging(1, 50, reverse=False)).pages == 0


@pytest.mark.parametrize(
    ("header", "path", "body", "good"),
    [
        ("Bearer all", "/v3/workspaces/x/peers", b"", True),
        ("bearer all", "/v3/workspaces/list", b"", True),
        ("Basic all", "/v3/workspaces/x/peers", b"", False),
        (None, "/v3/workspaces/x/peers", b"", False),
        ("Bearer", "/v3/workspaces/x/peers", b"", False),
        ("Bearer wrong", "/v3/workspaces/x/peers", b"", False),
        ("Bearer one", "/v3/workspaces/w/peers", b"", True),
        ("Bearer one", "/v3/workspaces/x/peers", b"", False),
        ("Bearer one", "/v3/workspaces/list", b"", False),
        ("Bearer one", "/v3/workspaces", b'{"id": "w"}', True),
        ("Bearer one", "/v3/workspaces", b'{"id": "x"}', False),
        (None, "/health", b"", True),
    ],
)
def test_a_key_opens_what_it_may(header: str | None, path: str, body: bytes, good: bool) -> None:
    keys = {"all": None, "one": "w"}
    if good:
        check_key(keys, header, "POST", path, body)
    else:
        with pytest.raises(Refused) as refused:
            check_key(keys, header, "POST", path, body)
        assert refused.value.status == 401


def test_without_keys_everybody_may() -> None:
    check_key({}, None, "POST", "/v3/workspaces/w/peers", b"")


def test_ids_follow_from_their_seed_or_their_parts() -> None:
    assert Ids(7).next() == Ids(7).next() != Ids(8).next()
    assert len(Ids(7).next()) == len(derived_id("a")) == 21
    assert derived_id("a", "bc") != derived_id("ab", "c")

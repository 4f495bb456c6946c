from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from honchod.api.callers import Role
from honchod.api.route import Answer, Call, Route
from honchod.api.router import Router
from honchod.errors import MethodNotAllowed, NotFound


async def handler(call: Call[Any, Any]) -> Answer:
    return Answer(b"")


def route(method: Any, path: str) -> Route:
    return Route(method, path, handler, Role.ANY, {200: None})


@pytest.fixture
def find() -> Callable[[str, str], tuple[str, dict[str, str]]]:
    router = Router(
        [
            route("GET", "/letters"),
            route("GET", "/letters/{id}"),
            route("POST", "/letters/retry"),
            route("POST", "/tools/{name}/run"),
        ]
    )

    def found(method: str, path: str) -> tuple[str, dict[str, str]]:
        match = router.find(method, path)
        return match.route.name, dict(match.parameters)

    return found


Find = Callable[[str, str], tuple[str, dict[str, str]]]


def test_literal_path_is_found(find: Find) -> None:
    assert find("GET", "/letters") == ("GET /letters", {})


def test_parameters_are_decoded_segment_by_segment(find: Find) -> None:
    assert find("GET", "/letters/a%2Fb%20c") == ("GET /letters/{id}", {"id": "a/b c"})
    assert find("POST", "/tools/x/run") == ("POST /tools/{name}/run", {"name": "x"})


def test_literal_path_beats_a_parameter_for_its_own_method_only(find: Find) -> None:
    assert find("POST", "/letters/retry") == ("POST /letters/retry", {})
    assert find("GET", "/letters/retry") == ("GET /letters/{id}", {"id": "retry"})


@pytest.mark.parametrize(
    "path", ["", "/", "/letters/", "/letters/a/b", "/tools//run", "/LETTERS", "letters", "*"]
)
def test_unknown_path_is_not_found(find: Find, path: str) -> None:
    with pytest.raises(NotFound):
        find("GET", path)


def test_other_method_is_answered_with_the_methods_there_are(find: Find) -> None:
    with pytest.raises(MethodNotAllowed) as caught:
        find("DELETE", "/letters/retry")
    assert caught.value.allowed == ("GET", "POST")

"""Which route a request means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from honchod.api.route import Route
from honchod.errors import MethodNotAllowed, NotFound

_NO_PARAMETERS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Match:
    """A route and the values of its path's parameters."""

    route: Route
    parameters: Mapping[str, str]


class Router:
    """Finds routes by method and path: literal paths by one look-up, those with parameters by segments."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._literal: dict[tuple[str, str], Match] = {}
        self._patterns: list[tuple[tuple[str, ...], Route]] = []
        for route in routes:
            if "{" in route.path:
                self._patterns.append((tuple(route.path.split("/")), route))
            else:
                self._literal[route.method, route.path] = Match(route, _NO_PARAMETERS)

    def find(self, method: str, raw_path: str) -> Match:
        """The match for a path as it was sent (percent-encoded, without query).

        Raises NotFound, or MethodNotAllowed when the path exists for other methods.
        """
        found = self._literal.get((method, raw_path))
        if found is not None:
            return found
        matches = list(self._matches(raw_path))
        for match in matches:
            if match.route.method == method:
                return match
        if matches:
            raise MethodNotAllowed(sorted({match.route.method for match in matches}))
        raise NotFound("there is no such path")

    def _matches(self, raw_path: str) -> Iterable[Match]:
        for (_, path), match in self._literal.items():
            if path == raw_path:
                yield match
        segments = raw_path.split("/")
        for pattern, route in self._patterns:
            if len(pattern) == len(segments):
                pairs = list(zip(pattern, segments, strict=True))
                if all(want == got if not want.startswith("{") else got for want, got in pairs):
                    yield Match(
                        route, {want[1:-1]: unquote(got) for want, got in pairs if want.startswith("{")}
                    )

"""From method and path to a handler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from .calls import Handler, Route
from .errors import Refused


@dataclass(frozen=True, slots=True)
class Match:
    """The handler of a path and the values of its ``{names}``."""

    handler: Handler
    path: Mapping[str, str]


class Router:
    """All routes, tried by number of segments; a literal segment beats a ``{name}``."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._by_length: dict[int, list[tuple[tuple[str, ...], dict[str, Handler]]]] = {}
        for route in routes:
            segments = tuple(route.template.split("/"))
            same_length = self._by_length.setdefault(len(segments), [])
            methods = next((found for known, found in same_length if known == segments), None)
            if methods is None:
                methods = {}
                same_length.append((segments, methods))
            methods[route.method] = route.handler
        for same_length in self._by_length.values():
            same_length.sort(key=lambda entry: sum(segment.startswith("{") for segment in entry[0]))

    def find(self, method: str, raw_path: str) -> Match:
        """The match of a percent-encoded path; ``Refused`` with 404 or 405 when there is none."""
        actual = raw_path.split("/")
        path_known = False
        for template, methods in self._by_length.get(len(actual), []):
            path = _fit(template, actual)
            if path is None:
                continue
            if method in methods:
                return Match(methods[method], path)
            path_known = True
        if path_known:
            raise Refused(405, "Method Not Allowed")
        raise Refused(404, "Not Found")


def _fit(template: tuple[str, ...], actual: list[str]) -> dict[str, str] | None:
    path: dict[str, str] = {}
    for wanted, segment in zip(template, actual, strict=True):
        if wanted.startswith("{") and segment:
            path[wanted[1:-1]] = unquote(segment)
        elif wanted != segment:
            return None
    return path

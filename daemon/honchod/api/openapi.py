"""The OpenAPI 3.1 document of the socket, generated from the routes and their wire types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

import honchod
from honchod.api import problems
from honchod.api.callers import Role
from honchod.api.problems import ProblemDocument
from honchod.api.route import JSON, Nothing, Route
from honchod.errors import BadRequest, Busy, Draining, NotAllowed, Problem, RequestTimeout, TooLarge
from honchod.identity.requests import Id

_REF: Final = "#/components/schemas/{name}"
_ALWAYS: Final = (BadRequest, RequestTimeout, TooLarge, Busy, Problem)
_HEADERS: Final = {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}
_ROLE_TEXT: Final = {
    Role.ANY: "Open to whoever can open the socket.",
    Role.AGENT: "For agents (`[access]`) and operators.",
    Role.OPERATOR: "For operators.",
}


def document(routes: Sequence[Route]) -> bytes:
    """The whole document as JSON."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "honchod",
                "version": honchod.__version__,
                "description": "The memory daemon of one machine, over its Unix socket.",
                "license": {"name": "MIT", "identifier": "MIT"},
            },
            "servers": [{"url": "http://honchod", "description": "any host name: the socket is the address"}],
            "paths": paths,
            "components": {
                "schemas": _schemas(routes),
                "headers": {
                    "RequestId": {
                        "description": "Names this request in the daemon's log.",
                        "schema": {"type": "string"},
                    },
                    "RetryAfter": {
                        "description": "Seconds after which it is worth trying again.",
                        "schema": {"type": "integer", "minimum": 0},
                    },
                },
            },
        }
    )


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": inspect.getdoc(route.handler),
        "description": _ROLE_TEXT[route.role],
        "parameters": [*_path_parameters(route), *_query_parameters(route)],
        "responses": {**_answers(route), **_problems(route)},
    }
    if route.request is not Nothing:
        operation["requestBody"] = {
            "required": not route.request_optional,
            "content": {JSON: {"schema": _schema(route.request)}},
        }
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": msgspec.json.schema(Id)}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    _, components = msgspec.json.schema_components([route.query], ref_template=_REF)
    schema = components[route.query.__name__]
    return [
        {"name": name, "in": "query", "required": name in schema["required"], "schema": _as_text(parameter)}
        for name, parameter in schema["properties"].items()
    ]


def _as_text(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter's schema without null, which a query string cannot say: it leaves the parameter out."""
    if "anyOf" in schema:
        (schema,) = (choice for choice in schema["anyOf"] if choice != {"type": "null"})
    return schema


def _answers(route: Route) -> dict[str, Any]:
    return {
        str(status): {
            "description": (inspect.getdoc(wire_type) if wire_type else None) or "The document.",
            "headers": _HEADERS,
            "content": {route.media_type: {"schema": _schema(wire_type) if wire_type else {}}},
        }
        for status, wire_type in route.answers.items()
    }


def _problems(route: Route) -> dict[str, Any]:
    by_status: dict[int, list[type[Problem]]] = {}
    for problem in _problem_types(route):
        by_status.setdefault(problem.status, []).append(problem)
    return {str(status): _problem_response(route, status, by_status[status]) for status in sorted(by_status)}


def _problem_types(route: Route) -> Iterable[type[Problem]]:
    found: list[type[Problem]] = [*_ALWAYS, *route.problems]
    if route.role is not Role.ANY:
        found.append(NotAllowed)
    if route.intake:
        found.append(Draining)
    return dict.fromkeys(found)


def _problem_response(route: Route, status: int, types: list[type[Problem]]) -> dict[str, Any]:
    content: dict[str, Any] = {problems.MEDIA_TYPE: {"schema": _schema(ProblemDocument)}}
    texts = [f"`{problem.code}`: {inspect.getdoc(problem)}" for problem in types]
    wire_type = route.answers.get(status)
    if wire_type is not None:
        content[route.media_type] = {"schema": _schema(wire_type)}
        texts.insert(0, str(inspect.getdoc(wire_type)))
    return {
        "description": "\n\n".join(texts),
        "headers": {**_HEADERS, "Retry-After": {"$ref": "#/components/headers/RetryAfter"}},
        "content": content,
    }


def _schema(wire_type: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": _REF.format(name=wire_type.__name__)}


def _schemas(routes: Iterable[Route]) -> dict[str, Any]:
    wire_types: set[type[msgspec.Struct]] = {ProblemDocument}
    for route in routes:
        wire_types.update(answer for answer in route.answers.values() if answer is not None)
        if route.request is not Nothing:
            wire_types.add(route.request)
    ordered = sorted(wire_types, key=lambda wire_type: wire_type.__name__)
    _, components = msgspec.json.schema_components(ordered, ref_template=_REF)
    return dict(sorted(components.items()))

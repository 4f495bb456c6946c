"""The OpenAPI document: valid, complete, and the one that is served."""

from __future__ import annotations

import json
from typing import Any

import openapi_spec_validator
from running_door import RunningDoor

from honchod.api import openapi
from honchod.api.routes import ROUTES

DOCUMENT: dict[str, Any] = json.loads(openapi.document(ROUTES))
OPERATIONS = [(path, method) for path, item in DOCUMENT["paths"].items() for method in item]


def test_document_is_valid_openapi_3_1() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    openapi_spec_validator.validate(DOCUMENT)


def test_served_document_is_the_one_of_the_routes(door: RunningDoor) -> None:
    assert door.ask("GET", "/v1/openapi.json").json == DOCUMENT


def test_every_route_is_in_the_document_with_a_summary() -> None:
    assert {f"{method.upper()} {path}" for path, method in OPERATIONS} == {route.name for route in ROUTES}
    for path, method in OPERATIONS:
        assert DOCUMENT["paths"][path][method]["summary"].endswith(".")


def test_operations_have_names_of_their_own() -> None:
    names = [DOCUMENT["paths"][path][method]["operationId"] for path, method in OPERATIONS]
    assert len(set(names)) == len(names)


def test_write_call_names_every_problem_of_the_error_table() -> None:
    responses = DOCUMENT["paths"]["/v1/messages"]["post"]["responses"]
    assert set(responses) == {"202", "400", "403", "408", "409", "413", "422", "429", "500", "503", "507"}
    for code in ("unprocessable", "unknown_host", "no_identity", "redaction_failed"):
        assert f"`{code}`" in responses["422"]["description"]
    assert "`draining`" in responses["503"]["description"]


def test_health_documents_its_body_for_503_beside_the_problem() -> None:
    content = DOCUMENT["paths"]["/v1/health"]["get"]["responses"]["503"]["content"]
    assert content["application/json"]["schema"]["$ref"].endswith("/Health")
    assert content["application/problem+json"]["schema"]["$ref"].endswith("/ProblemDocument")

"""The OpenAPI document: valid, complete, and true of the door that serves it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openapi_spec_validator
import pytest
import requests
import requests.adapters
import schemathesis
import urllib3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running_door import RunningDoor

from honchod.api import openapi
from honchod.api.routes import ROUTES

DOCUMENT: dict[str, Any] = json.loads(openapi.document(ROUTES))
OPERATIONS = [(path, method) for path, item in DOCUMENT["paths"].items() for method in item]


class UnixAdapter(requests.adapters.HTTPAdapter):
    """Sends whatever goes to any host to one Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def get_connection_with_tls_context(self, *_: Any, **__: Any) -> urllib3.HTTPConnectionPool:
        path = self._path

        class Connection(urllib3.connection.HTTPConnection):
            def connect(self) -> None:
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.settimeout(10)
                self.sock.connect(str(path))

        pool = urllib3.HTTPConnectionPool("honchod")
        pool.ConnectionCls = Connection
        return pool


@pytest.fixture
def session(door: RunningDoor) -> requests.Session:
    session = requests.Session()
    session.mount("http://", UnixAdapter(door.path))
    return session


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


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_door_answers_whatever_is_sent_as_the_document_says(
    session: requests.Session, path: str, method: str
) -> None:
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    operation = schema[path][method]
    anything: Callable[..., st.SearchStrategy[Any]] = operation.as_strategy
    modes = st.one_of(anything(generation_mode=mode) for mode in schemathesis.GenerationMode)

    @settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
    @given(modes)
    def check(case: schemathesis.Case) -> None:
        # A request can fit the schema and still be refused: an unknown host, a cursor of another daemon.
        excluded = [schemathesis.checks.positive_data_acceptance]
        case.call_and_validate(base_url="http://honchod", session=session, excluded_checks=excluded)

    check()

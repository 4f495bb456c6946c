"""Answers of the socket, as Prometheus scrapes them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from honchod.ops.answers import Answers


def scraped(answers: Answers) -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(answers)
    lines = generate_latest(registry).decode().splitlines()
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")
    }


def test_answers_are_counted_by_route_and_status() -> None:
    answers = Answers()
    for status in (202, 202, 507):
        answers.count("POST /v1/messages", status, 0.1)
    found = scraped(answers)
    assert found['honchod_requests_total{route="POST /v1/messages",status="202"}'] == 2
    assert found['honchod_requests_total{route="POST /v1/messages",status="507"}'] == 1


def test_what_an_alert_looks_for_is_there_before_it_happens() -> None:
    answers = Answers(("POST /v1/messages", 507))
    refused = 'honchod_requests_total{route="POST /v1/messages",status="507"}'
    assert scraped(answers)[refused] == 0
    answers.count("POST /v1/messages", 507, 0.1)
    assert scraped(answers)[refused] == 1


def test_times_are_counted_within_their_bounds_and_all_that_are_wider() -> None:
    answers = Answers()
    for seconds in (0.0005, 0.001, 0.0011, 20.0):
        answers.count("GET /v1/health", 200, seconds)
    found = scraped(answers)

    def within(bound: str) -> float:
        return found[f'honchod_request_duration_seconds_bucket{{le="{bound}",route="GET /v1/health"}}']

    assert [within(bound) for bound in ("0.001", "0.005", "10.0", "+Inf")] == [2, 3, 3, 4]
    assert found['honchod_request_duration_seconds_count{route="GET /v1/health"}'] == 4
    assert found['honchod_request_duration_seconds_sum{route="GET /v1/health"}'] == 20.0026

"""Who gets in: login, cookies, forms of other sites, names of other sites."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import pytest
from web_house import SECRET, House

from honchod.web import attempts, server
from support.waiting import wait_until

PRIVATE = ["/", "/letters", "/letters/1"]
ACTIONS = [
    *("/worker/wake", "/worker/pause", "/worker/resume", "/worker/drain", "/reload", "/checks"),
    *("/cache/clear", "/notices/ack", "/letters/retry", "/letters/discard", "/logout"),
]


def test_metrics_and_health_need_no_login(house: House) -> None:
    metrics = house.visitor().get("/metrics")
    assert metrics.status == 200
    assert metrics.headers["content-type"].startswith("text/plain; version=")
    assert "honchod_" in metrics.text
    health = house.visitor().get("/v1/health")
    with house.daemon.client() as client:
        assert json.loads(health.text) == client.health()


@pytest.mark.parametrize("path", PRIVATE)
def test_a_page_sends_a_stranger_to_the_login(house: House, path: str) -> None:
    answer = house.visitor().get(path)
    assert (answer.status, answer.location) == (303, "/login")
    assert not answer.text


def test_the_refreshed_parts_tell_a_script_that_the_session_is_over(house: House) -> None:
    answer = house.visitor().get("/live")
    assert (answer.status, answer.text) == (401, "")


@pytest.mark.parametrize("path", ACTIONS)
def test_an_action_does_nothing_for_a_stranger(house: House, path: str) -> None:
    assert house.visitor().post(path, [("csrf", "x")]).status in (303, 403)
    assert not house.daemon.status()["delivery"]["paused"]


def test_the_token_opens_the_page_and_nothing_else_does(house: House) -> None:
    visitor = house.visitor()
    for wrong in ("", "wrong", house.token[:-1], house.token + "x"):
        refused = visitor.log_in(wrong)
        assert refused.status == 403
        assert "not the token" in refused.text
        assert visitor.get("/").status == 303
    assert visitor.log_in(f" {house.token} ").location == "/"
    assert visitor.get("/").status == 200


def test_the_session_cookie_is_for_this_site_and_no_script(house: House) -> None:
    visitor = house.visitor()
    session = next(cookie for cookie in visitor.log_in(house.token).cookies if "honchod_session" in cookie)
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in session.split(";")}
    assert house.token not in session


def test_a_login_makes_a_new_session_whatever_cookie_came_with_it(house: House) -> None:
    first, second = house.operator(), house.operator()
    name = next(name for name in first.cookies if "session" in name)
    assert first.cookies[name] != second.cookies[name]
    fixed = house.visitor()
    fixed.cookies[name] = "chosen-by-somebody-else"
    fixed.log_in(house.token)
    assert fixed.cookies[name] != "chosen-by-somebody-else"


def test_a_session_that_was_logged_out_is_over(house: House) -> None:
    operator = house.operator()
    kept = dict(operator.cookies)
    csrf = operator.get("/").field("csrf")
    assert operator.post("/logout", [("csrf", csrf)]).location == "/login"
    operator.cookies = kept
    assert operator.get("/").status == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": None},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
@pytest.mark.parametrize("path", ["/worker/pause", "/login"])
def test_a_form_of_another_site_is_refused_with_everything_else_right(
    house: House, path: str, headers: dict[str, str | None]
) -> None:
    operator = house.operator()
    fields = [("csrf", operator.get("/").field("csrf")), ("token", house.token)]
    assert operator.post(path, fields, headers).status == 403
    assert not house.daemon.status()["delivery"]["paused"]


@pytest.mark.parametrize("given", [None, "", "wrong", "of another session"])
def test_a_form_without_what_belongs_to_the_session_is_refused(house: House, given: str | None) -> None:
    operator = house.operator()
    if given == "of another session":
        given = house.operator().get("/").field("csrf")
    fields = [] if given is None else [("csrf", given)]
    assert operator.post("/worker/pause", fields).status == 403
    assert not house.daemon.status()["delivery"]["paused"]


@pytest.mark.parametrize("media_type", ["text/plain", "application/json", "multipart/form-data; boundary=x"])
def test_only_a_plain_form_is_taken(house: House, media_type: str) -> None:
    operator = house.operator()
    fields = [("csrf", operator.get("/").field("csrf"))]
    assert operator.post("/worker/pause", fields, {"Content-Type": media_type}).status == 415


def test_a_form_that_is_too_large_is_refused(house: House) -> None:
    operator = house.operator()
    assert operator.post("/letters/retry", [("id", "1" * 1_000_000)]).status == 413


def test_nothing_is_changed_by_a_get(house: House) -> None:
    operator = house.operator()
    for path in ACTIONS:
        assert operator.get(path).status in (404, 405)


@pytest.mark.parametrize("path", ["/", "/login", "/metrics", "/v1/health", "/static/page.js", "/nowhere"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "192.168.0.7"])
def test_a_name_of_another_site_is_answered_with_nothing(house: House, path: str, host: str) -> None:
    answer = house.operator().get(path, {"Host": host})
    assert answer.status == 421
    assert "honchod_" not in answer.text


def test_a_request_without_a_name_is_refused(house: House) -> None:
    assert house.operator().get("/", {"Host": None}).status in (400, 421)


def test_the_page_answers_under_every_name_of_loopback(house: House) -> None:
    port = urlsplit(house.url).port
    for name in (f"localhost:{port}", f"[::1]:{port}", "localhost:8080"):
        assert house.visitor().get("/login", {"Host": name}).status == 200


@pytest.mark.parametrize(
    "path", ["/", "/login", "/letters", "/live", "/metrics", "/v1/health", "/static/page.css", "/nowhere"]
)
def test_every_answer_carries_the_headers(house: House, path: str) -> None:
    headers = house.operator().get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["server"] == "honchod"


def test_neither_token_nor_key_is_on_a_page_in_status_or_in_the_log(house: House) -> None:
    operator = house.operator()
    seen = [operator.get(path).text for path in ("/", "/letters", "/live", "/metrics", "/v1/health")]
    seen += [json.dumps(house.daemon.status()), house.daemon.log()]
    for text in seen:
        assert house.token not in text
        assert SECRET not in text


def test_the_page_listens_on_loopback_only(house: House) -> None:
    port = urlsplit(house.url).port
    own = socket.gethostbyname(socket.gethostname())
    with socket.socket() as other:
        other.settimeout(5)
        assert own.startswith("127.") or other.connect_ex((own, port)) != 0


def test_whoever_keeps_connections_open_takes_them_from_nobody_else(house: House) -> None:
    """Any user of the machine can connect: the oldest connection makes room."""
    at = urlsplit(house.url)
    held = [
        socket.create_connection((at.hostname or "", at.port or 0), 5) for _ in range(server.CONNECTIONS * 2)
    ]
    try:
        assert house.visitor().get("/v1/health").status == 200
        assert house.daemon.process is not None
        assert house.daemon.status()["queue"]["dead"] == 0
        held[0].settimeout(10)
        assert held[0].recv(1) == b""
    except ConnectionResetError:
        pass
    finally:
        for connection in held:
            connection.close()


def test_guessing_is_slowed_down_and_the_token_is_no_exception(house: House) -> None:
    """Last in this file: it uses up the tries of everybody."""
    visitor = house.visitor()
    statuses = [visitor.log_in("wrong").status for _ in range(attempts.BURST + 2)]
    assert statuses.count(429) >= 1
    limited = wait_until(
        lambda: answer if (answer := visitor.log_in("wrong")).status == 429 else None, "a refusal"
    )
    assert 1 <= int(limited.headers["retry-after"]) <= attempts.REFILL_S
    assert visitor.log_in(house.token).status == 429

"""Every trouble on the way becomes one CallFailed with the facts, after one request."""

from __future__ import annotations

import asyncio
import socket
import traceback

import msgspec
import pytest
from raw_server import drip, nonsense, raw_server, redirect
from talking import AL, asked, failure, said, talk

from honchod.clock import SystemClock
from honchod.errors import CallFailed, CallReason
from honchod.gateway.gateway import Gateway
from honchod.gateway.pool import GatewayPool
from honchod.gateway.values import Endpoint
from honchod.sandbox import SandboxHandle, running_sandbox
from honchod.sandbox.faults import Commit, Reply, Rule

KEY = "hch-v3-0123456789abcdef"


async def send(gateway: Gateway) -> object:
    return await gateway.send("s", [said("1")])


def facts(failed: CallFailed) -> tuple[CallReason, int, str | None]:
    return failed.reason, failed.status, failed.retry_after


@pytest.mark.parametrize(
    "status", [301, 400, 401, 403, 404, 405, 408, 409, 413, 418, 422, 429, 500, 502, 503, 504]
)
def test_an_error_status_is_told_as_it_is(sandbox: SandboxHandle, status: int) -> None:
    sandbox.add_faults(f"POST messages: status={status}")
    failed = failure(sandbox.url, send)
    assert facts(failed) == (CallReason.STATUS, status, None)
    assert failed.code == f"http_{status}"
    assert asked(sandbox) == ["POST workspaces/w/sessions/s/messages"]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("header", ["17", "Mon, 02 Mar 2026 09:00:00 GMT", "soon"])
def test_retry_after_comes_as_it_was_sent(sandbox: SandboxHandle, status: int, header: str) -> None:
    sandbox.add_faults(
        [Rule(commit=Commit.NONE, reply=Reply.STATUS, status=status, headers={"Retry-After": header})]
    )
    assert facts(failure(sandbox.url, send)) == (CallReason.STATUS, status, header)


def test_a_retry_after_of_an_earlier_call_is_not_remembered(sandbox: SandboxHandle) -> None:
    sandbox.add_faults("*: status=429 retry-after=17 times=1; *: status=503 times=1")

    async def twice(gateway: Gateway) -> None:
        with pytest.raises(CallFailed):
            await gateway.send("s", [said("1")])
        await gateway.send("s", [said("1")])

    assert facts(failure(sandbox.url, twice)) == (CallReason.STATUS, 503, None)


@pytest.mark.parametrize(
    ("fault", "reason", "status", "stored"),
    [
        ("hang", CallReason.TIMEOUT, 0, 0),
        ("hang-after-commit", CallReason.TIMEOUT, 0, 1),
        ("cut-before-commit", CallReason.CUT, 0, 0),
        ("cut-after-commit", CallReason.CUT, 0, 1),
        ("partial", CallReason.CUT, 0, 1),
        ("portal", CallReason.NOT_HONCHO, 200, 0),
        ("status-after-commit=502", CallReason.STATUS, 502, 1),
    ],
)
def test_what_went_out_and_got_no_answer_is_unknown_and_sent_once(
    sandbox: SandboxHandle, fault: str, reason: CallReason, status: int, stored: int
) -> None:
    sandbox.add_faults(f"POST messages: {fault}")
    failed = failure(sandbox.url, send, timeout_s=0.3)
    assert facts(failed) == (reason, status, None)
    assert len(sandbox.requests()) == 1
    assert len(sandbox.messages("w", "s")) == stored


@pytest.mark.parametrize(
    "body",
    ["{}", "[]", "null", "17", '"text"', '[{"id": 1}]', '{"messages": []}', "not json", '[{"id": "a"'],
)
def test_a_2xx_of_the_wrong_shape_is_not_honcho(sandbox: SandboxHandle, body: str) -> None:
    sandbox.add_faults([Rule(path="messages", commit=Commit.NONE, reply=Reply.STATUS, status=201, body=body)])
    failed = failure(sandbox.url, send)
    assert (failed.reason, failed.status) == (CallReason.NOT_HONCHO, 201)


def test_an_answer_for_fewer_messages_than_were_sent_is_not_honcho(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> None:
        await gateway.send("s", [said("1")])
        one = sandbox.messages("w", "s")[0]
        body = msgspec.json.encode([one]).decode()
        rule = Rule(path="messages", commit=Commit.NONE, reply=Reply.STATUS, status=201, body=body)
        sandbox.add_faults([rule])
        await gateway.send("s", [said("2"), said("3")])

    assert facts(failure(sandbox.url, scenario)) == (CallReason.NOT_HONCHO, 201, None)


@pytest.mark.parametrize("call", ["ask", "prepare", "find"])
def test_every_call_knows_a_portal(sandbox: SandboxHandle, call: str) -> None:
    calls = {
        "ask": lambda gateway: gateway.ask(),
        "prepare": lambda gateway: gateway.prepare("s", [AL], None),
        "find": lambda gateway: gateway.find("s", ["1"]),
    }
    sandbox.add_faults("*: portal")
    assert failure(sandbox.url, calls[call]).reason is CallReason.NOT_HONCHO


def test_a_refused_connection_never_left() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert facts(failure(f"http://127.0.0.1:{port}", send)) == (CallReason.UNREACHABLE, 0, None)


def test_a_name_that_nobody_has_never_left() -> None:
    assert failure("http://nobody.invalid", send).reason is CallReason.UNREACHABLE


def test_tls_with_a_server_that_has_none_never_left(sandbox: SandboxHandle) -> None:
    assert failure(sandbox.url.replace("http:", "https:"), send).reason is CallReason.UNREACHABLE


def test_a_server_that_went_away_between_two_calls_is_unreachable(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> None:
        await gateway.send("s", [said("1")])
        await asyncio.to_thread(sandbox.take_down)
        await gateway.send("s", [said("2")])

    assert failure(sandbox.url, scenario).reason in (CallReason.UNREACHABLE, CallReason.CUT)
    sandbox.bring_up()
    assert len(sandbox.messages("w", "s")) == 1


def test_bytes_that_are_not_http_are_a_cut() -> None:
    with raw_server(nonsense) as url:
        assert failure(url, send).reason is CallReason.CUT


def test_a_redirect_is_not_followed() -> None:
    with raw_server(redirect) as url:
        assert facts(failure(url, send, key=KEY)) == (CallReason.STATUS, 307, None)


def test_a_server_that_drips_is_given_up() -> None:
    with raw_server(drip) as url:
        assert failure(url, send, timeout_s=0.2).reason is CallReason.TIMEOUT


@pytest.mark.parametrize("fault", ["status=500", "status=503", "status=429", "hang", "cut-after-commit"])
def test_the_sdk_repeats_nothing(sandbox: SandboxHandle, fault: str) -> None:
    sandbox.add_faults(f"POST messages: {fault}")
    failure(sandbox.url, send, timeout_s=0.3)
    assert [record.messages for record in sandbox.requests()] == [1]


def test_a_key_is_sent_and_one_that_is_wrong_is_refused() -> None:
    with running_sandbox(api_key=KEY) as sandbox:
        talk(sandbox.url, send, key=KEY)
        assert sandbox.requests()[0].authorization
        assert facts(failure(sandbox.url, send, key="wrong")) == (CallReason.STATUS, 401, None)


@pytest.mark.parametrize("broken", [f"{KEY}\nX-Evil: 1", f"{KEY}\r\n", f"{KEY}\0", f"{KEY}ü"])
def test_a_key_that_no_header_can_carry_is_named_nowhere(sandbox: SandboxHandle, broken: str) -> None:
    failed = failure(sandbox.url, send, key=broken)
    assert failed.reason is CallReason.LOCAL
    told = "".join(traceback.format_exception(failed)) + repr(failed) + repr(vars(failed))
    assert "0123456789" not in told
    assert asked(sandbox) == []


def test_a_failure_shows_neither_key_nor_body(sandbox: SandboxHandle) -> None:
    sandbox.add_faults(
        [Rule(commit=Commit.NONE, reply=Reply.STATUS, status=422, body=f'{{"detail":"{KEY} echoed"}}')]
    )
    failed = failure(sandbox.url, lambda gateway: gateway.send("s", [said("1", "private words")]), key=KEY)
    told = "".join(traceback.format_exception(failed)) + repr(vars(failed))
    assert KEY not in told
    assert "private words" not in told
    assert "echoed" not in told


def test_without_a_key_there_is_no_authorization_whatever_the_environment_holds(
    sandbox: SandboxHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HONCHO_API_KEY", KEY)
    monkeypatch.setenv("HONCHO_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("HONCHO_WORKSPACE_ID", "elsewhere")

    async def scenario(gateway: Gateway) -> None:
        await gateway.prepare("s", [AL], None)
        await gateway.send("s", [said("1")])
        await gateway.find("s", ["1"])

    talk(sandbox.url, scenario)
    assert [record.authorization for record in sandbox.requests()] == [False] * 4
    assert len(sandbox.messages("w", "s")) == 1


def test_a_proxy_of_the_environment_is_not_for_this_machine(
    sandbox: SandboxHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    talk(sandbox.url, send)
    assert len(sandbox.messages("w", "s")) == 1


def test_the_private_places_in_the_sdk_still_work(sandbox: SandboxHandle) -> None:
    """Our HTTP client is the one that is used, and a call makes no request beside its own."""
    before: list[float] = []

    async def count() -> None:
        before.append(0.0)

    async def scenario(gateway: Gateway) -> None:
        client = gateway._client
        assert client.honcho._async_http._client is client.http
        assert client.honcho._async_http.max_retries == 0
        assert client.honcho._workspace_ensured is True
        await gateway.send("s", [said("1")])

    talk(sandbox.url, scenario, before=count)
    assert len(before) == 1, "requests pass by our HTTP client's hooks"
    assert asked(sandbox) == ["POST workspaces/w/sessions/s/messages"], (
        "the SDK makes the workspace by itself"
    )


def test_requests_of_a_destination_are_paced_together(sandbox: SandboxHandle) -> None:
    async def play() -> float:
        pool = GatewayPool(timeout_s=5.0, rate=lambda _url: 20.0, clock=SystemClock())
        first = await pool.get("d", Endpoint(sandbox.url, "w"))
        second = await pool.get("d", Endpoint(sandbox.url, "v"))
        assert await pool.get("d", Endpoint(sandbox.url, "w")) is first
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.gather(*(gateway.send("s", [said("1")]) for gateway in (first, second) * 5))
        elapsed = loop.time() - started
        assert pool.requests == 10
        await pool.close()
        assert pool.requests == 10
        return elapsed

    assert asyncio.run(play()) >= 9 / 20 - 0.01


def test_other_destinations_are_not_paced_and_unused_ones_are_closed(sandbox: SandboxHandle) -> None:
    async def play() -> None:
        pool = GatewayPool(timeout_s=5.0, rate=lambda _url: 0.0, clock=SystemClock())
        kept = await pool.get("kept", Endpoint(sandbox.url, "w"))
        dropped = await pool.get("dropped", Endpoint(sandbox.url, "w"))
        await asyncio.gather(*(gateway.send("s", [said("1")]) for gateway in (kept, dropped)))
        await pool.keep_only({"kept"})
        assert pool.requests == 2
        assert await pool.get("kept", Endpoint(sandbox.url, "w")) is kept
        assert await pool.get("dropped", Endpoint(sandbox.url, "w")) is not dropped
        await pool.close()

    asyncio.run(play())

"""Setting a session up, sending, finding: the real SDK against a server."""

from __future__ import annotations

import asyncio
import random

import pytest
from talking import AL, BOT, CREATED_MS, asked, failure, said, talk

from honchod.errors import CallReason
from honchod.gateway.gateway import OWN_ID, Gateway
from honchod.gateway.values import Member, Outgoing, Setup
from honchod.sandbox import PeerConfig, SandboxHandle

WORKSPACES, SESSIONS = "POST workspaces", "POST workspaces/w/sessions"
MESSAGES = "POST workspaces/w/sessions/s/messages"
LIST = f"{MESSAGES}/list"


def test_the_workspace_is_made_first_then_the_session_with_its_flags(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> Setup:
        setup = await gateway.prepare("s", [BOT, AL], None)
        await gateway.send("s", [said("1")])
        return setup

    assert talk(sandbox.url, scenario) == Setup(created=True, scope=None)
    assert asked(sandbox) == [WORKSPACES, SESSIONS, MESSAGES]
    assert sandbox.members("w", "s") == {"al": PeerConfig(True, False), "bot": PeerConfig(False, True)}


def test_members_join_in_one_canonical_order(sandbox: SandboxHandle) -> None:
    members = [Member(f"p{n}", observe_me=True, observe_others=False) for n in range(8)]
    random.Random(3).shuffle(members)
    talk(sandbox.url, lambda gateway: gateway.prepare("s", members, None))
    assert list(sandbox.members("w", "s")) == sorted(member.peer for member in members)


def test_a_scope_is_joined_where_the_server_knows_scopes(sandbox: SandboxHandle) -> None:
    setup = talk(sandbox.url, lambda gateway: gateway.prepare("s", [AL], "proj"))
    assert setup == Setup(created=True, scope="proj")
    assert sandbox.scope_sessions("w", "proj") == ["s"]


@pytest.mark.parametrize("status", [404, 422])
def test_a_server_without_scopes_gets_the_session_without(sandbox: SandboxHandle, status: int) -> None:
    sandbox.add_faults(f"POST sessions content=scopes: status={status}")
    setup = talk(sandbox.url, lambda gateway: gateway.prepare("s", [AL, BOT], "proj"))
    assert setup == Setup(created=True, scope=None)
    assert asked(sandbox) == [WORKSPACES, SESSIONS, SESSIONS]
    assert sandbox.members("w", "s") == {"al": PeerConfig(True, False), "bot": PeerConfig(False, True)}


def test_a_refused_session_is_not_tried_without_its_scope(sandbox: SandboxHandle) -> None:
    sandbox.add_faults("POST sessions: status=401")
    failed = failure(sandbox.url, lambda gateway: gateway.prepare("s", [AL], "proj"))
    assert failed.status == 401
    assert asked(sandbox) == [WORKSPACES, SESSIONS]


def test_a_session_that_is_refused_without_a_scope_stays_refused(sandbox: SandboxHandle) -> None:
    sandbox.add_faults("POST sessions: status=422")
    assert failure(sandbox.url, lambda gateway: gateway.prepare("s", [AL], None)).status == 422
    assert asked(sandbox) == [WORKSPACES, SESSIONS]


def test_flags_are_put_only_where_a_member_has_none(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> Setup:
        await gateway.prepare("s", [AL], None)
        await gateway.send("s", [said("1", peer="bot")])
        changed = Member("al", observe_me=False, observe_others=True)
        return await gateway.prepare("s", [changed, BOT], None)

    assert talk(sandbox.url, scenario) == Setup(created=False, scope=None)
    assert sandbox.members("w", "s") == {"al": PeerConfig(True, False), "bot": PeerConfig(False, True)}
    put = [line for line in asked(sandbox) if line.startswith("PUT")]
    assert put == ["PUT workspaces/w/sessions/s/peers/bot/config"]


def test_a_batch_is_stored_in_order_with_its_times_and_metadata(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> tuple[str, ...]:
        return await gateway.send("s", [said(f"{n}") for n in range(100)])

    ids = talk(sandbox.url, scenario)
    stored = sandbox.messages("w", "s")
    assert [message.id for message in stored] == list(ids)
    assert [message.metadata for message in stored] == [{OWN_ID: f"{n}", "k": 1} for n in range(100)]
    assert {message.created_at for message in stored} == {"2026-03-02T09:00:00.123000Z"}
    assert {message.peer_id for message in stored} == {"al"}


def test_a_time_that_no_calendar_has_is_refused_here(sandbox: SandboxHandle) -> None:
    impossible = Outgoing("al", "x", {}, 10**18)
    failed = failure(sandbox.url, lambda gateway: gateway.send("s", [impossible]))
    assert failed.reason is CallReason.LOCAL
    assert asked(sandbox) == []


def stored_with_gaps(gateway: Gateway) -> object:
    """230 messages of ours, and some of others between them."""

    async def store() -> None:
        for start in range(0, 230, 46):
            await gateway.send("s", [said(f"own-{n}") for n in range(start, start + 46)])
            await gateway.send("s", [Outgoing("al", "not ours", {}, CREATED_MS)])
            await gateway.send("s", [Outgoing("al", "like ours", {OWN_ID: ["a", "list"]}, CREATED_MS)])

    return store()


def expected(sandbox: SandboxHandle, wanted: list[str]) -> dict[str, str]:
    found = {}
    for message in sandbox.messages("w", "s"):
        own = message.metadata.get(OWN_ID)
        if isinstance(own, str) and own in wanted:
            found.setdefault(own, message.id)
    return found


WANTED = [f"own-{n}" for n in range(40, 190)]


async def find_among_many(gateway: Gateway) -> dict[str, str]:
    await stored_with_gaps(gateway)
    return await gateway.find("s", [*WANTED, "own-9999"])


def test_messages_are_found_by_their_metadata_over_several_pages(sandbox: SandboxHandle) -> None:
    assert talk(sandbox.url, find_among_many) == expected(sandbox, WANTED)
    assert [line for line in asked(sandbox) if line == LIST] == [LIST] * 2


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_the_filter_is_read_from_the_newest(
    sandbox: SandboxHandle, status: int
) -> None:
    sandbox.add_faults(f"POST messages/list content=honchod_id: status={status}")
    assert talk(sandbox.url, find_among_many) == expected(sandbox, WANTED)
    queries = [record.query for record in sandbox.requests() if record.path.endswith("/list")][1:]
    assert all("reverse=true" in query for query in queries)


def test_a_server_that_ignores_the_filter_is_read_from_the_newest(deaf_sandbox: SandboxHandle) -> None:
    assert talk(deaf_sandbox.url, find_among_many) == expected(deaf_sandbox, WANTED)


def test_reading_stops_when_everything_was_found(deaf_sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> dict[str, str]:
        await stored_with_gaps(gateway)
        return await gateway.find("s", ["own-229"])

    assert set(talk(deaf_sandbox.url, scenario)) == {"own-229"}
    assert len([line for line in asked(deaf_sandbox) if line == LIST]) == 2


@pytest.mark.parametrize("refused", [False, True])
def test_of_two_copies_the_older_is_found(sandbox: SandboxHandle, *, refused: bool) -> None:
    async def scenario(gateway: Gateway) -> tuple[dict[str, str], str]:
        first, _ = await gateway.send("s", [said("one"), said("two")])
        await gateway.send("s", [said("one")])
        return await gateway.find("s", ["one", "two", "three"]), first

    if refused:
        sandbox.add_faults("POST messages/list content=honchod_id: status=422")
    found, first = talk(sandbox.url, scenario)
    assert found["one"] == first
    assert set(found) == {"one", "two"}


def test_nothing_is_found_in_a_session_that_does_not_exist(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> dict[str, str]:
        await gateway.ask()
        return await gateway.find("s", ["one"])

    assert talk(sandbox.url, scenario) == {}


def test_a_look_that_fails_otherwise_is_no_answer(sandbox: SandboxHandle) -> None:
    sandbox.add_faults("POST messages/list: status=500")
    assert failure(sandbox.url, lambda gateway: gateway.find("s", ["one"])).status == 500
    assert asked(sandbox) == [LIST]


def test_calls_of_several_sessions_run_at_once(sandbox: SandboxHandle) -> None:
    sandbox.add_faults("POST messages: delay=0.3")

    async def scenario(gateway: Gateway) -> float:
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.gather(*(gateway.send(f"s{n}", [said("1")]) for n in range(6)))
        return loop.time() - started

    assert talk(sandbox.url, scenario) < 1.5


def test_requests_are_counted(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> int:
        await gateway.prepare("s", [AL], None)
        await gateway.send("s", [said("1")])
        return gateway.requests

    assert talk(sandbox.url, scenario) == len(sandbox.requests()) == 3

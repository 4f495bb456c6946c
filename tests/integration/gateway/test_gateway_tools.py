"""The calls behind the memory tools, against the sandbox: conclusions, cards, excerpts, the stream."""

from __future__ import annotations

import asyncio

import pytest
from talking import AL, BOT, asked, failure, said, talk

from honchod.errors import CallFailed, CallReason
from honchod.gateway.gateway import Gateway
from honchod.gateway.values import Sight, Where
from honchod.identity.choices import ReasoningLevel
from honchod.sandbox import SandboxHandle

BOT_OF_AL = Sight("bot", "al")
FACT = "drinks tea"


async def conclude(gateway: Gateway, content: str = FACT, sight: Sight = BOT_OF_AL) -> str:
    await gateway.prepare("s", [BOT], None)
    return await gateway.conclusions.conclude(sight, "s", content)


def test_a_conclusion_about_a_peer_nobody_has_met_makes_the_peer_and_no_member(
    sandbox: SandboxHandle,
) -> None:
    made = talk(sandbox.url, conclude)
    (held,) = sandbox.conclusions("w")
    assert (held.id, held.content, held.observer_id, held.observed_id) == (made, FACT, "bot", "al")
    assert held.session_id == "s"
    assert list(sandbox.members("w", "s")) == ["bot"]


def test_a_conclusion_about_a_known_peer_is_one_request(sandbox: SandboxHandle) -> None:
    async def twice(gateway: Gateway) -> None:
        await gateway.prepare("s", [AL, BOT], None)
        await gateway.conclusions.conclude(BOT_OF_AL, "s", FACT)

    talk(sandbox.url, twice)
    assert sum(request.endswith("/conclusions") for request in asked(sandbox)) == 1


def test_a_conclusion_for_a_session_that_is_gone_fails(sandbox: SandboxHandle) -> None:
    failed = failure(sandbox.url, lambda gateway: gateway.conclusions.conclude(BOT_OF_AL, "nope", FACT))
    assert failed.status == 404


@pytest.mark.parametrize("server", ["sandbox", "deaf_sandbox"])
def test_it_is_found_by_its_words_pair_and_session_past_the_first_page(
    server: str, request: pytest.FixtureRequest
) -> None:
    async def search(gateway: Gateway) -> tuple[str, list[str | None]]:
        made = await conclude(gateway)
        await gateway.prepare("t", [BOT], None)
        for number in range(101):
            await gateway.conclusions.conclude(BOT_OF_AL, "s", f"fact {number}")
        find = gateway.conclusions.find
        missing = [
            await find(BOT_OF_AL, "s", "drinks te"),
            await find(BOT_OF_AL, "t", FACT),
            await find(Sight("al", "al"), "s", FACT),
        ]
        assert await find(BOT_OF_AL, "s", FACT) == made
        return made, missing

    handle: SandboxHandle = request.getfixturevalue(server)
    assert talk(handle.url, search)[1] == [None, None, None]


def test_conclusions_are_listed_searched_and_deleted(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> None:
        tea = await conclude(gateway)
        await conclude(gateway, "lives in Lisbon")
        conclusions = gateway.conclusions
        assert [one.content for one in await conclusions.latest(BOT_OF_AL, 1)] == ["lives in Lisbon"]
        assert (await conclusions.near(BOT_OF_AL, "tea", 5))[0].id == tea
        assert await conclusions.delete(tea)
        assert not await conclusions.delete(tea)
        assert not await conclusions.delete("../workspaces")
        assert [one.content for one in await conclusions.latest(BOT_OF_AL, 9)] == ["lives in Lisbon"]

    talk(sandbox.url, scenario)


def test_excerpts_are_found_by_peer_session_and_workspace(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> None:
        await gateway.prepare("s", [AL, BOT], None)
        await gateway.send("s", [said("1", "green tea"), said("2", "black tea", peer="bot")])
        near = gateway.excerpts.near
        assert [one.content for one in await near("green tea", Where.PEER, "al", 5)] == ["green tea"]
        assert len(await near("tea", Where.SESSION, "s", 5)) == 2
        (best, _) = await near("black tea", Where.WORKSPACE, "", 5)
        assert (best.peer, best.session, best.content) == ("bot", "s", "black tea")

    talk(sandbox.url, scenario)


def test_a_card_is_set_and_read_and_empty_for_a_stranger(sandbox: SandboxHandle) -> None:
    async def scenario(gateway: Gateway) -> None:
        await gateway.prepare("s", [AL, BOT], None)
        assert await gateway.excerpts.set_card(BOT_OF_AL, ["Name: Al"]) == ("Name: Al",)
        assert await gateway.excerpts.card(BOT_OF_AL) == ("Name: Al",)
        assert await gateway.excerpts.card(Sight("stranger", "al")) == ()

    talk(sandbox.url, scenario)


async def listen(gateway: Gateway, timeout_s: float = 5.0) -> list[str]:
    await conclude(gateway)
    stream = gateway.dialogue.stream("what about tea?", BOT_OF_AL, ReasoningLevel.LOW, timeout_s=timeout_s)
    return [piece async for piece in stream]


def test_an_answer_comes_in_pieces(sandbox: SandboxHandle) -> None:
    pieces = talk(sandbox.url, listen)
    assert len(pieces) > 1
    assert FACT in "".join(pieces)


def test_a_stream_that_says_nothing_is_a_failure(sandbox: SandboxHandle) -> None:
    async def deaf(gateway: Gateway) -> None:
        await conclude(gateway)
        sandbox.add_faults("peers/.*/chat: llm-down")
        stream = gateway.dialogue.stream("tea?", BOT_OF_AL, ReasoningLevel.LOW, timeout_s=5.0)
        assert [piece async for piece in stream] == []

    assert failure(sandbox.url, deaf).reason is CallReason.EMPTY


def test_a_stream_that_hangs_ends_at_its_deadline_and_the_connection_with_it(sandbox: SandboxHandle) -> None:
    async def hang(gateway: Gateway) -> float:
        await conclude(gateway)
        sandbox.add_faults("peers/.*/chat: hang")
        began = asyncio.get_running_loop().time()
        with pytest.raises(CallFailed) as caught:
            await anext(gateway.dialogue.stream("tea?", BOT_OF_AL, ReasoningLevel.LOW, timeout_s=0.2))
        assert caught.value.reason is CallReason.TIMEOUT
        return asyncio.get_running_loop().time() - began

    assert talk(sandbox.url, hang) < 2


def test_a_stream_that_is_cut_before_its_end_is_a_failure(sandbox: SandboxHandle) -> None:
    async def cut(gateway: Gateway) -> None:
        await conclude(gateway)
        sandbox.add_faults("peers/.*/chat: partial")
        async for _ in gateway.dialogue.stream("tea?", BOT_OF_AL, ReasoningLevel.LOW, timeout_s=5.0):
            pass

    assert failure(sandbox.url, cut).reason is CallReason.CUT

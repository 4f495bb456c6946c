"""When what is fetched ahead: cadences, backing off, levels, over many turns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from recall_rig import LANE, Rig

from honchod.delivery.circuit import Circuit, CircuitState
from honchod.identity.choices import Section
from honchod.recall.requests import SessionQuery
from honchod.sandbox import running_sandbox
from support.honcho import Remote
from support.network import Network, running_network

Play = Callable[..., None]


@pytest.fixture
def network() -> Iterator[Network]:
    """The way to a server that knows nothing."""
    with running_sandbox() as sandbox, running_network(sandbox.url) as network:
        yield network


@pytest.fixture
def play(network: Network, tmp_path: Path) -> Play:
    """Plays a story on a rig whose host has these keys."""

    def run(story: Callable[[Rig], Awaitable[None]], **keys: Any) -> None:
        async def main() -> None:
            async with Rig(network, tmp_path / "state", **keys) as rig:
                await story(rig)

        asyncio.run(main())

    return run


def know(network: Network) -> None:
    """Make the server know something of ann."""
    remote = Remote(network.upstream)
    remote.ask("POST", "/v3/workspaces", {"id": "w"})
    remote.ask("POST", "/v3/workspaces/w/sessions", {"id": "s", "peers": {"ann": {}, "bot": {}}})
    row = {"content": "Ann lives in Lisbon.", "observer_id": "bot", "observed_id": "ann", "session_id": "s"}
    remote.ask("POST", "/v3/workspaces/w/conclusions", {"conclusions": [row]})


async def turns_that_ask(rig: Rig, ending: str, turns: int) -> list[int]:
    """In which of so many turns the server was asked."""
    asked = []
    for number in range(1, turns + 1):
        before = len(rig.asked(ending))
        await rig.turn()
        asked += [number] * (len(rig.asked(ending)) - before)
    return asked


CADENCES = pytest.mark.parametrize(("cadence", "expected"), [(1, [1, 2, 3, 4]), (2, [1, 3]), (3, [1, 4])])


@CADENCES
def test_the_context_has_its_cadence(play: Play, network: Network, cadence: int, expected: list[int]) -> None:
    async def story(rig: Rig) -> None:
        assert await turns_that_ask(rig, "/sessions/s/context", 4) == expected
        assert rig.asked("/chat") == []

    know(network)
    play(story, contextCadence=cadence, dialectic="deliberate")


@CADENCES
def test_the_dialectic_has_a_cadence_of_its_own(
    play: Play, network: Network, cadence: int, expected: list[int]
) -> None:
    async def story(rig: Rig) -> None:
        assert await turns_that_ask(rig, "/chat", 4) == expected
        assert len(rig.asked("/sessions/s/context")) == 4

    know(network)
    play(story, dialecticCadence=cadence)


def test_answers_that_say_nothing_double_the_cadence(play: Play) -> None:
    async def story(rig: Rig) -> None:
        assert await turns_that_ask(rig, "/chat", 16) == [1, 3, 7, 15]
        assert not rig.recaller._supplements.has(LANE)

    play(story, dialecticCadence=1)


def test_a_failing_model_is_asked_again_by_the_cadence_and_counts_as_no_answer(
    play: Play, network: Network
) -> None:
    async def story(rig: Rig) -> None:
        network.hit("POST chat: status=500")
        assert await turns_that_ask(rig, "/chat", 5) == [1, 3, 5]
        assert rig.recaller._turns.of(LANE).dialectic_empty == 0

    know(network)
    play(story)


def test_an_explicit_question_resets_the_cadence(play: Play, network: Network) -> None:
    async def story(rig: Rig) -> None:
        await rig.turn()
        await rig.turn()
        rig.recaller.reasoned(rig.place)
        before = len(rig.asked("/chat"))
        assert before == 1
        await rig.turn()
        assert len(rig.asked("/chat")) == before, "turn 3 would have asked"
        await rig.turn()
        assert len(rig.asked("/chat")) == before + 1

    know(network)
    play(story)


def test_cadences_go_on_after_a_restart(play: Play, network: Network) -> None:
    async def first(rig: Rig) -> None:
        await rig.turn()

    async def second(rig: Rig) -> None:
        assert rig.recaller._turns.of(LANE).turns == 1
        assert await turns_that_ask(rig, "/chat", 3) == [2]

    know(network)
    play(first)
    play(second)


def test_an_unused_answer_is_dropped_when_it_is_old(play: Play, network: Network) -> None:
    async def story(rig: Rig) -> None:
        await rig.turn()
        assert rig.recaller._supplements.has(LANE)
        network.hit("POST chat: status=500")
        for _ in range(4):
            await rig.turn()
        assert (await rig.recall(peek=True)).sections.dialectic
        await rig.turn()
        assert (await rig.recall(peek=True)).sections.dialectic is None

    know(network)
    play(story)


@pytest.mark.parametrize("said", ["thanks!", "ok", "/help"])
def test_a_trivial_turn_asks_nothing(play: Play, network: Network, said: str) -> None:
    async def story(rig: Rig) -> None:
        await rig.turn(said)
        assert network.seen() == []
        assert rig.recaller._turns.of(LANE).turns == 1
        await rig.turn(None)
        assert rig.asked("/chat")

    play(story)


@pytest.mark.parametrize(
    ("keys", "chars", "levels"),
    [
        ({}, 10, ["low"]),
        ({}, 120, ["medium"]),
        ({}, 400, ["high"]),
        ({"dialecticReasoningLevel": "medium"}, 400, ["high"]),
        ({"dialecticReasoningLevel": "max"}, 400, ["max"]),
        ({"reasoningLevelCap": "low"}, 400, ["low"]),
        ({"dialecticDepth": 2}, 120, ["minimal", "medium"]),
        ({"dialecticDepth": 3}, 120, ["minimal", "medium", "low"]),
        ({"dialecticDepth": 2, "dialecticDepthLevels": ["high", "low"]}, 120, ["high", "low"]),
    ],
)
def test_every_pass_has_its_level(
    play: Play, network: Network, keys: dict[str, Any], chars: int, levels: list[str]
) -> None:
    async def story(rig: Rig) -> None:
        await rig.turn("x" * chars)
        assert [one.body["reasoning_level"] for one in rig.asked("/chat")] == levels

    know(network)
    play(story, **keys)


def test_a_start_asks_at_full_depth_and_once(play: Play, network: Network) -> None:
    async def story(rig: Rig) -> None:
        started = SessionQuery(host="h", session="s", query="hello, where should I go?")
        await rig.recaller.start(started)
        await rig.recaller.start(started)
        await rig.settle()
        assert len(rig.asked("/chat")) == 2
        assert rig.asked("/chat")[0].body["query"] != started.query
        await rig.recaller.start(started)
        await rig.settle()
        assert len(rig.asked("/chat")) == 2, "one answer waits already"
        assert len(rig.asked("/sessions/s/context")) == 1, "and the context is fresh"
        assert (await rig.recall(query="something else")).sections.dialectic

    know(network)
    play(story, dialecticDepth=2)


def test_nothing_is_asked_of_a_destination_that_is_away(play: Play, network: Network) -> None:
    async def story(rig: Rig) -> None:
        rig.circuit = Circuit(4, CircuitState.HALF_OPEN)
        await rig.recaller.start(SessionQuery(host="h", session="s"))
        await rig.turn()
        answer = await rig.recaller.prefetch(SessionQuery(host="h", session="s"))
        assert (answer.context, answer.dialectic) == (False, False)
        assert (await rig.recall(wait_ms=100)).status == "unavailable"
        await rig.settle()
        assert network.seen() == []
        assert rig.recaller._turns.of(LANE).dialectic_turn is None, (
            "it was not asked, so its turn is not over"
        )

    play(story)


def test_what_is_in_use_is_refreshed_when_honcho_has_learned_and_nothing_else(
    play: Play, network: Network
) -> None:
    async def story(rig: Rig) -> None:
        await rig.recall(tokens=300, wait_ms=5_000)
        await rig.recall(query="where does Ann live?", wait_ms=5_000, sections=[Section.USER_REPRESENTATION])
        before = len(network.seen())
        route = rig.directory.route("h")
        assert route is not None
        rig.recaller._learned(LANE, route)
        answer = await rig.recall(query="where does Ann live?", tokens=300)
        assert answer.status == "stale", "what was there before is shown until the new one has come"
        await rig.settle()
        paths = [record.path.rpartition("/")[2] for record in network.seen()[before:]]
        assert sorted(paths) == ["context", "context", "context", "representation"]
        assert (await rig.recall(query="where does Ann live?", tokens=300)).status == "fresh"

    know(network)
    play(story, dialectic="deliberate")


def test_clearing_while_an_answer_is_under_way_keeps_it_out(play: Play, network: Network) -> None:
    async def story(rig: Rig) -> None:
        network.hit("GET context: delay=0.3")
        await rig.recall()
        assert (await rig.recaller.clear()).cleared == 0
        await rig.settle()
        assert rig.recaller.facts().entries == 0

    play(story)


def test_a_reload_counts_from_the_next_recall_on(play: Play, network: Network) -> None:
    async def story(rig: Rig) -> None:
        await rig.recall(wait_ms=5_000)
        settings = rig.recaller._settings
        rig.recaller.configure(type(settings)(0.0, 1, settings.bounds, settings.policy))
        rig.recaller.use(rig.hosts, {}, None)
        answer = await rig.recall()
        assert (answer.status, answer.reason) == ("off", "disabled")

    play(story)


def test_what_failed_a_moment_ago_is_not_asked_again_by_every_recall(play: Play, network: Network) -> None:
    async def story(rig: Rig) -> None:
        network.hit("GET sessions/s/context: status=500")
        for _ in range(5):
            assert (await rig.recall(wait_ms=2_000)).status == "unavailable"
        assert len(rig.asked("/sessions/s/context")) == 1
        assert len(rig.asked("/peers/bot/context")) == 1, "the failure of one is no news of the other"
        other = SessionQuery(host="h", session="t")
        await rig.recaller.start(other)
        await rig.settle()
        assert rig.asked("/sessions/t/context")

    play(story, dialectic="deliberate")

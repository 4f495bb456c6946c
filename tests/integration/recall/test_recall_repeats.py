"""Recalls that come again: the same answer for as long as nothing has changed, and not a moment longer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from recall_rig import LANE, Rig

from honchod.delivery.routes import routes
from honchod.identity import config
from honchod.recall.requests import RecallAnswer, RecallRequest
from honchod.recall.supplements import Supplement
from honchod.sandbox import running_sandbox
from support.honcho import Remote
from support.network import Network, running_network

Story = Callable[[Rig], Awaitable[None]]
WAIT_MS = 20_000
BOUND_S = 30.0


@pytest.fixture
def network() -> Iterator[Network]:
    """The way to a server that knows something of ann."""
    with running_sandbox() as sandbox, running_network(sandbox.url) as network:
        remote = Remote(network.upstream)
        remote.ask("POST", "/v3/workspaces", {"id": "w"})
        remote.ask("POST", "/v3/workspaces/w/sessions", {"id": "s", "peers": {"ann": {}, "bot": {}}})
        row = {
            "content": "Ann lives in Lisbon.",
            "observer_id": "bot",
            "observed_id": "ann",
            "session_id": "s",
        }
        remote.ask("POST", "/v3/workspaces/w/conclusions", {"conclusions": [row]})
        yield network


@pytest.fixture
def play(network: Network, tmp_path: Path) -> Callable[..., None]:
    """Plays a story on a rig whose memory is fresh, and was recalled."""

    def run(story: Story, ttl_s: float = 120.0) -> None:
        async def main() -> None:
            async with Rig(network, tmp_path / "state", ttl_s=ttl_s) as rig:
                await rig.recall(wait_ms=WAIT_MS)
                assert "Lisbon" in (await repeated(rig)).text
                await story(rig)

        asyncio.run(main())

    return run


async def repeated(rig: Rig) -> RecallAnswer:
    """A recall, and the same again: it is answered from what is remembered."""
    first = await rig.recall()
    assert first.status == "fresh"
    assert len(rig.recaller._repeats._given) == 1
    again = rig.recaller.again(RecallRequest(host="h", session="s"))
    assert again is not None
    assert again.receipt != first.receipt
    assert (again.status, again.text, again.sections) == (first.status, first.text, first.sections)
    return again


def test_it_has_a_receipt_and_counts_like_any_other(play: Callable[..., None]) -> None:
    async def story(rig: Rig) -> None:
        before = rig.recaller.facts().hits
        again = await repeated(rig)
        assert rig.recaller.facts().hits == before + 2
        newest, older, *_ = rig.recaller.receipts(limit=2, session=None).items
        assert newest.id == again.receipt
        assert (newest.chars, newest.status, newest.calls) == (older.chars, older.status, 0)
        assert [one.section for one in newest.sections] == [one.section for one in older.sections]

    play(story)


def test_it_grows_older(play: Callable[..., None]) -> None:
    async def story(rig: Rig) -> None:
        deadline = time.monotonic() + BOUND_S
        while (again := await rig.recall()).age_s in (None, 0.0):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        assert again.status == "fresh"

    play(story)


def test_it_is_stale_once_its_time_is_over(play: Callable[..., None]) -> None:
    async def story(rig: Rig) -> None:
        rig.recaller._answering.ttl_s = 0.0
        assert (await rig.recall()).status == "stale"

    play(story)


def test_it_is_stale_once_honcho_has_learned_something(play: Callable[..., None]) -> None:
    async def story(rig: Rig) -> None:
        destination = rig.directory.route("h")
        assert destination is not None
        rig.recaller._cache.age((destination.destination, "w", "s"))
        assert (await rig.recall()).status == "stale"

    play(story)


def test_it_holds_an_answer_of_the_dialectic_that_came_meanwhile_once(play: Callable[..., None]) -> None:
    async def story(rig: Rig) -> None:
        rig.recaller._supplements.put(LANE, Supplement("She means the river.", 0, time.monotonic()))
        assert "river" in (await rig.recall()).text
        assert "river" not in (await rig.recall()).text
        assert "river" not in (await repeated(rig)).text

    play(story)


def test_it_is_another_sessions_after_a_reset(play: Callable[..., None]) -> None:
    async def story(rig: Rig) -> None:
        rig.directory._places.advance(rig.place.name, 1)
        assert (await rig.recall()).status == "cold"

    play(story)


def test_it_is_about_whoever_spoke_last(play: Callable[..., None]) -> None:
    async def story(rig: Rig) -> None:
        rig.recaller.spoke(rig.place, peer="ben", said="Hello.", turn_ended=False)
        assert "Lisbon" not in (await rig.recall()).text

    play(story)


def test_it_is_asked_for_anew_by_other_words(play: Callable[..., None]) -> None:
    async def story(rig: Rig) -> None:
        assert not (await rig.recall(query="What does she think of the sea in winter?")).query_matched
        assert len((await rig.recall(tokens=10)).text) < len((await rig.recall()).text)

    play(story)


def test_it_is_gone_after_a_reload_and_after_the_cache_was_cleared(play: Callable[..., None]) -> None:
    async def story(rig: Rig) -> None:
        block = {"baseUrl": rig.network.url, "workspace": "w", "peerName": "ann", "aiPeer": "bot"}
        hosts = config.parse(
            {"hosts": {"h": {**block, "recallMode": "tools"}}}, {}, read_key=str, credential=None
        )
        rig.recaller.use(hosts, routes(hosts, b"salt"), None)
        assert (await rig.recall()).status == "off"
        rig.recaller.use(rig.hosts, routes(rig.hosts, b"salt"), None)
        await repeated(rig)
        await rig.recaller.clear()
        assert (await rig.recall()).status == "cold"

    play(story)

"""The calls that read, against a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest

from honchod.errors import CallFailed
from honchod.gateway.gateway import Gateway
from honchod.gateway.memory import Memory
from honchod.gateway.values import Endpoint, PeerView, QueueState, SessionView, Sight
from honchod.identity.choices import ReasoningLevel
from honchod.sandbox import SandboxHandle, running_sandbox
from support.honcho import Remote

T = TypeVar("T")
ANN = Sight("bot", "ann")


@pytest.fixture
def sandbox() -> Iterator[SandboxHandle]:
    """A server that knows something of ann."""
    with running_sandbox() as sandbox:
        remote = Remote(sandbox.url)
        remote.ask("POST", "/v3/workspaces", {"id": "w"})
        peers = {"ann": {}, "bot": {"observe_others": True}}
        remote.ask("POST", "/v3/workspaces/w/sessions", {"id": "s", "peers": peers})
        rows = [
            {"content": text, "observer_id": "bot", "observed_id": "ann", "session_id": "s"}
            for text in ("Ann lives in Lisbon.", "Ann keeps bees.")
        ]
        remote.ask("POST", "/v3/workspaces/w/conclusions", {"conclusions": rows})
        remote.ask("PUT", "/v3/workspaces/w/peers/bot/card?target=ann", {"peer_card": ["Name: Ann"]})
        remote.ask("PUT", "/v3/workspaces/w/peers/bot/card", {"peer_card": ["Name: Bot"]})
        yield sandbox


@pytest.fixture
def ask(sandbox: SandboxHandle) -> Callable[[Callable[[Memory], Awaitable[T]]], T]:
    """Asks the server something."""

    def run(question: Callable[[Memory], Awaitable[T]]) -> T:
        async def main() -> T:
            gateway = Gateway(Endpoint(sandbox.url, "w"), timeout_s=5)
            try:
                return await question(gateway.memory)
            finally:
                await gateway.close()

        return asyncio.run(main())

    return run


def test_a_session_s_view_has_representation_and_card(ask, sandbox: SandboxHandle) -> None:  # type: ignore[no-untyped-def]
    before = len(sandbox.requests())
    view = ask(lambda memory: memory.of_session("s", ANN, tokens=4_000))
    assert "Lisbon" in view.representation
    assert view.card == ("Name: Ann",)
    assert (view.summary, view.scope) == ("", None)
    assert len(sandbox.requests()) == before + 1


def test_what_is_unknown_is_empty(ask) -> None:  # type: ignore[no-untyped-def]
    nothing = SessionView("", "", (), None)
    assert ask(lambda memory: memory.of_session("nowhere", None, tokens=4_000)) == nothing
    assert ask(lambda memory: memory.of_session("s", Sight("ann", "nobody"), tokens=4_000)) == nothing
    assert ask(lambda memory: memory.of_itself("stranger")) == PeerView("", ())


def test_a_peer_that_honcho_has_never_met_knows_nothing(ask, sandbox: SandboxHandle) -> None:  # type: ignore[no-untyped-def]
    """Honcho answers 404 for it, also about a session that it knows."""
    nothing = SessionView("", "", (), None)
    stranger = Sight("stranger", "ann")
    before = len(sandbox.requests())
    assert ask(lambda memory: memory.of_session("s", stranger, tokens=4_000)) == nothing
    assert len(sandbox.requests()) == before + 2
    about = Sight("bot", "stranger")
    assert ask(lambda memory: memory.reason("Where?", about, ReasoningLevel.LOW, timeout_s=5)) == ""


def test_a_peer_s_view_of_itself(ask) -> None:  # type: ignore[no-untyped-def]
    assert ask(lambda memory: memory.of_itself("bot")).card == ("Name: Bot",)


def test_a_query_finds_the_nearest_first(ask) -> None:  # type: ignore[no-untyped-def]
    found = ask(lambda memory: memory.found("bees?", ANN, top_k=1, max_conclusions=1))
    assert "bees" in found
    assert "Lisbon" not in found


def test_an_unknown_scope_is_the_global_view_and_a_known_one_is_not(ask, sandbox: SandboxHandle) -> None:  # type: ignore[no-untyped-def]
    unknown = Sight("bot", "ann", "a0-none")
    view = ask(lambda memory: memory.of_session("s", unknown, tokens=4_000))
    assert "Lisbon" in view.representation
    assert view.scope is None
    assert "Lisbon" in ask(lambda memory: memory.found("x", unknown, top_k=8, max_conclusions=20))
    Remote(sandbox.url).ask("POST", "/v3/workspaces/w/scopes", {"id": "a0-empty"})
    known = Sight("bot", "ann", "a0-empty")
    view = ask(lambda memory: memory.of_session("s", known, tokens=4_000))
    assert (view.representation, view.scope) == ("", "a0-empty")


def test_the_dialectic_answers_at_a_level(ask, sandbox: SandboxHandle) -> None:  # type: ignore[no-untyped-def]
    answer = ask(lambda memory: memory.reason("Where?", ANN, ReasoningLevel.HIGH, timeout_s=5))
    assert "Lisbon" in answer


def test_a_queue_tells_how_far_honcho_is(ask, sandbox: SandboxHandle) -> None:  # type: ignore[no-untyped-def]
    assert ask(lambda memory: memory.queue("s")) == QueueState(0, 0, 0)
    message = {"messages": [{"peer_id": "ann", "content": "hello"}]}
    Remote(sandbox.url).ask("POST", "/v3/workspaces/w/sessions/s/messages", message)
    queue = ask(lambda memory: memory.queue("s"))
    assert queue.completed + queue.in_progress + queue.pending > 0


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_a_failure_is_a_failure(ask, sandbox: SandboxHandle, status: int) -> None:  # type: ignore[no-untyped-def]
    sandbox.add_faults(f"*: status={status}")
    for question in (
        lambda memory: memory.of_session("s", ANN, tokens=4_000),
        lambda memory: memory.of_itself("bot"),
        lambda memory: memory.found("x", ANN, top_k=1, max_conclusions=1),
        lambda memory: memory.reason("x", ANN, ReasoningLevel.LOW, timeout_s=5),
        lambda memory: memory.queue("s"),
    ):
        with pytest.raises(CallFailed) as failed:
            ask(question)
        assert failed.value.status == status

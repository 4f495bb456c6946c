"""What is fetched ahead of a recall: at the end of a turn, at a session's start, when Honcho has learned."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from known import Known

from honchod.client import Client
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Exchange, Network
from support.waiting import wait_until

WAIT_MS = 20_000
LIVE = bool(os.environ.get("HONCHOD_LIVE_URL"))
SANDBOX_ONLY = pytest.mark.skipif(LIVE, reason="a real Honcho derives and reasons in its own time and words")


@pytest.fixture
def known(remote: Remote, workspace: str) -> Known:
    """A session in which something is known of ann."""
    known = Known(remote, workspace)
    known.session()
    known.concludes("Ann lives in Lisbon.")
    return known


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[Client]:
    """A client of a running daemon."""
    with daemon.start().client() as client:
        yield client


@pytest.fixture
def client_with(
    hosts: dict[str, Any], make_daemon: Callable[..., DaemonProcess]
) -> Iterator[Callable[..., Client]]:
    """Clients of running daemons whose default host has these keys."""
    clients: list[Client] = []

    def make(**keys: Any) -> Client:
        clients.append(make_daemon({**hosts, **keys}).start().client())
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def chats(network: Network) -> list[Exchange]:
    return [one for one in network.seen() if one.path.endswith("/chat")]


def turn(client: Client, text: str = "What should I see in Lisbon?", **more: Any) -> None:
    """One turn: what ann said, what bot answered."""
    messages = [{"content": text}, {"role": "assistant", "content": "The river."}]
    client.write(messages, session="s", turn_end=True, **more)


def wait_for_chats(network: Network, count: int) -> list[Exchange]:
    return wait_until(
        lambda: found if len(found := chats(network)) >= count and all(one.status for one in found) else None,
        f"{count} questions to the dialectic",
    )


def test_the_end_of_a_turn_fetches_for_the_next(known: Known, client: Client, network: Network) -> None:
    turn(client)
    wait_for_chats(network, 1)
    recalled = wait_until(
        lambda: answer if (answer := client.recall(session="s", peek=True)).sections["dialectic"] else None,
        "the prefetched answer",
    )
    assert "Lisbon" in recalled.sections["user_representation"]


def test_a_prefetched_answer_is_used_once(known: Known, client: Client, network: Network) -> None:
    turn(client)
    wait_for_chats(network, 1)
    dialectic = wait_until(
        lambda: client.recall(session="s", peek=True).sections["dialectic"], "the prefetched answer"
    )
    first = client.recall("what else is there to see?", session="s")
    assert first.sections["dialectic"] == dialectic
    assert first.text.index(dialectic) > first.text.index("# What is known of the user")
    assert client.recall(session="s").sections["dialectic"] is None
    assert len(chats(network)) == 1


def test_a_host_that_asks_deliberately_never_pays_for_the_dialectic(
    known: Known, client_with: Callable[..., Client], network: Network
) -> None:
    client = client_with(dialectic="deliberate")
    assert client.call("POST", "/v1/sessions/start", {"session": "s"})["session"] == "s"
    turn(client)
    begun = client.call("POST", "/v1/prefetch", {"session": "s"})
    assert begun == {"session": "s", "context": True, "dialectic": False}
    client.recall(session="s", recall_wait_ms=WAIT_MS)
    assert chats(network) == []


def test_a_trivial_turn_costs_nothing(known: Known, client: Client, network: Network) -> None:
    turn(client, "thanks!")
    client.call("POST", "/v1/prefetch", {"session": "s", "query": "ok"})
    turn(client, "What should I see in Lisbon?")
    wait_for_chats(network, 1)
    assert len([one for one in network.seen() if one.path.endswith("/sessions/s/context")]) == 1


def test_long_messages_raise_the_level_and_depth_has_its_levels(
    known: Known, client_with: Callable[..., Client], network: Network
) -> None:
    client = client_with(dialecticDepth=3, dialecticCadence=1, dialecticReasoningLevel="low")
    turn(client, "What should I see? " + "I like long walks along rivers. " * 5)
    asked = wait_for_chats(network, 1)
    assert asked[0].body["reasoning_level"] == "minimal"
    assert asked[0].body["target"] == "ann"
    if not LIVE:
        levels = [one.body["reasoning_level"] for one in wait_for_chats(network, 3)]
        assert levels == ["minimal", "medium", "low"]


def test_a_query_prefetched_by_hand_answers_that_query_alone(
    known: Known, client: Client, network: Network
) -> None:
    question = "where does Ann live?"
    begun = client.call("POST", "/v1/prefetch", {"session": "s", "query": question})
    assert begun == {"session": "s", "context": True, "dialectic": True}
    (asked,) = wait_for_chats(network, 1)
    assert asked.body["query"] == question
    wait_until(lambda: client.recall(question, session="s", peek=True).sections["dialectic"], "its answer")
    assert client.recall("what else?", session="s").sections["dialectic"] is None
    assert client.recall(session="s").sections["dialectic"] is None
    assert client.recall(question, session="s").sections["dialectic"]


def test_a_session_s_start_makes_it_and_warms_it_up(
    known: Known, client: Client, network: Network, remote: Remote, workspace: str
) -> None:
    started = client.call("POST", "/v1/sessions/start", {"session": "new"})
    assert started == {"session": "new", "generation": 0, "warm": False}
    recalled = client.recall(session="new", recall_wait_ms=WAIT_MS)
    assert recalled.status == "fresh"
    assert "Lisbon" in recalled.text
    assert recalled.sections["dialectic"], "the first recall waits for what the start asks"
    wait_until(lambda: "new" in remote.sessions(workspace), "the session to be made")
    wait_until(lambda: remote.flags(workspace, "new", "bot")["observe_others"], "its flags")
    assert client.call("POST", "/v1/sessions/start", {"session": "new"})["warm"]


def test_a_recall_does_not_wait_for_the_start_unless_it_may(
    known: Known, client: Client, network: Network
) -> None:
    network.hit("POST chat: hang; GET context: delay=0.5")
    client.call("POST", "/v1/sessions/start", {"session": "s"})
    assert client.recall(session="s").status == "cold"
    # Long enough for a real server; what hangs would take longer still.
    recalled = client.recall(session="s", recall_wait_ms=6_000)
    assert recalled.status == "fresh"
    assert recalled.sections["dialectic"] is None


def test_a_new_generation_begins_without_what_was_prefetched(
    known: Known, client: Client, network: Network
) -> None:
    turn(client)
    wait_for_chats(network, 1)
    wait_until(lambda: client.recall(session="s", peek=True).sections["dialectic"], "the prefetched answer")
    client.call("POST", "/v1/sessions/reset", {"session": "s"})
    assert client.recall(session="s").sections["dialectic"] is None


@SANDBOX_ONLY
def test_what_honcho_derives_is_recalled_long_before_the_entry_would_be_old(
    client: Client, daemon: DaemonProcess
) -> None:
    assert client.recall(session="s", recall_wait_ms=WAIT_MS).status == "empty"
    client.write([{"content": "I moved to Lisbon."}], session="s")
    daemon.wait_for_delivery()
    wait_until(lambda: "Lisbon" in client.recall(session="s").text, "the conclusion to be recalled")
    destination = wait_until(
        lambda: found if (found := daemon.status()["destinations"][0])["derived"] else None, "derived"
    )
    assert (destination["delivered"], destination["derived"]) == (1, 1)


@SANDBOX_ONLY
def test_delivered_and_derived_are_apart_until_honcho_has_derived_and_over_a_restart(
    daemon: DaemonProcess, network: Network
) -> None:
    network.hit("GET queue/status: status=500")
    with daemon.start().client() as client:
        client.write([{"content": "I moved to Lisbon."}, {"content": "It is sunny."}], session="s")
    daemon.wait_for_delivery()
    destination = daemon.status()["destinations"][0]
    assert (destination["delivered"], destination["derived"]) == (2, 0)
    assert daemon.stop() == 0
    daemon.start()
    assert daemon.status()["destinations"][0]["derived"] == 0
    network.heal()
    wait_until(lambda: daemon.status()["destinations"][0]["derived"] == 2, "Honcho to be asked again")


@SANDBOX_ONLY
def test_the_person_who_speaks_is_the_one_that_is_recalled(
    client: Client, daemon: DaemonProcess, network: Network
) -> None:
    """A gateway's session is about its own user, not about the owner of the machine; also after a restart."""
    client.write([{"content": "I keep bees.", "runtime_user": "tg-77"}], session="s")
    client.write([{"content": "I keep goats."}], session="t")
    daemon.wait_for_delivery()
    wait_until(lambda: "bees" in client.recall(session="s", recall_wait_ms=500).text, "the bees")
    assert "goats" not in client.recall(session="s").text
    assert daemon.stop() == 0
    network.take_down()
    with daemon.start().client() as again:
        assert "bees" in again.recall(session="s").text


@SANDBOX_ONLY
def test_a_scope_shows_its_own_sessions_and_without_it_everything(
    known: Known, client: Client, daemon: DaemonProcess
) -> None:
    client.write([{"content": "I keep bees."}], session="inside", scope="a0-garden")
    daemon.wait_for_delivery()

    def scoped() -> str:
        return client.recall(session="inside", scope="a0-garden", recall_wait_ms=500).text

    wait_until(lambda: "bees" in scoped(), "the scope to know")
    assert "Lisbon" not in scoped()
    assert "Lisbon" in client.recall(session="inside", recall_wait_ms=WAIT_MS).text


def test_a_server_without_the_scope_gives_the_global_view(known: Known, client: Client) -> None:
    recalled = client.recall("where does Ann live?", session="s", scope="a0-none", recall_wait_ms=WAIT_MS)
    assert recalled.status == "fresh"
    assert recalled.query_matched
    assert "Lisbon" in recalled.text


@SANDBOX_ONLY
def test_a_strong_first_answer_needs_no_further_pass(
    known: Known, client_with: Callable[..., Client], network: Network
) -> None:
    known.concludes(
        *(f"Ann said of Lisbon, {number}: {'it is a fine place to be ' * 3}" for number in range(5))
    )
    client = client_with(dialecticDepth=3)
    turn(client)
    wait_until(lambda: client.recall(session="s", peek=True).sections["dialectic"], "the answer")
    assert len(chats(network)) == 1


def test_a_failed_second_pass_leaves_the_first_answer(
    known: Known, client_with: Callable[..., Client], network: Network
) -> None:
    client = client_with(dialecticDepth=2)
    network.hit("POST chat: status=500 nth=2")
    turn(client)
    assert wait_until(lambda: client.recall(session="s", peek=True).sections["dialectic"], "the answer")

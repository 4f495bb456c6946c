"""Our memory provider inside Hermes: its plugin loader, agent, command line, scheduler and subagents."""

from __future__ import annotations

import os
import statistics
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from honchod.client import Client
from runtimes.hermes.running import Hermes, running_hermes
from runtimes.model_server import ModelServer, Say, Use, request_text
from runtimes.oracle import Spoken, arrived, assert_arrived
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until

HOST = "hermes"
BLOCKED_MS = 20.0
"""What a turn may wait for memory at most, at the median."""

MEASURED_TURNS = 12
ROUNDS = 3


@pytest.fixture
def daemon(make_daemon: Callable[..., DaemonProcess], hosts: dict[str, Any]) -> DaemonProcess:
    """A running daemon that knows Hermes, and keeps what its subagents find."""
    hermes = {"aiPeer": "hermes", "authorPeers": {"subagent": "helper"}}
    return make_daemon({**hosts, "hosts": {HOST: hermes}}).start()


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[Client]:
    """A client of the daemon."""
    with daemon.client() as client:
        yield client


@pytest.fixture
def hermes(daemon: DaemonProcess, model: ModelServer) -> Iterator[Hermes]:
    """Hermes with our provider, in a directory named ``project``."""
    with running_hermes(model, provider="honchod", environ=environ_of(daemon)) as hermes:
        yield hermes


def environ_of(daemon: DaemonProcess) -> dict[str, str]:
    """Where an agent finds this daemon, and its drop box."""
    return {"HONCHOD_SOCKET": str(daemon.socket), "HONCHOD_DROP": str(daemon.drop_dir)}


class Conversation:
    """Twenty turns as they are said, and what must be in Honcho of them, by session."""

    def __init__(self, hermes: Hermes, model: ModelServer) -> None:
        self._hermes = hermes
        self._model = model
        self._session = ""
        self.expected: dict[str, list[Spoken]] = {}
        self.turns = 0

    def moves_to(self, session: str) -> None:
        """What is said from now on belongs there."""
        self._session = session
        self.expected[session] = []

    def turn(self, text: str = "", *, uses: str = "", **arguments: Any) -> None:
        """A turn, in which the model calls one tool where given."""
        self.turns += 1
        text = text or f"This is turn {self.turns}."
        reply = Say(f"Reply {self.turns}.")
        self._model.on(text, Use(uses, arguments, then=reply) if uses else reply)
        assert self._hermes.say(text)["answer"] == reply.text, self._hermes.log()
        self.hears("ann", text)
        self.hears("hermes", reply.text)

    def hears(self, peer: str, text: str) -> None:
        """What must be in Honcho next."""
        self.expected[self._session].append((peer, text))


def session_of(client: Client, hermes: Hermes) -> str:
    """The Honcho session that Hermes's directory belongs to now."""
    place = client.resolve_session(host=HOST, locator={"cwd": str(hermes.project)})
    return str(place["session"])


def test_a_conversation_of_twenty_turns_arrives_once_in_order_and_is_recalled(
    hermes: Hermes,
    daemon: DaemonProcess,
    client: Client,
    model: ModelServer,
    remote: Remote,
    workspace: str,
) -> None:
    said = Conversation(hermes, model)
    said.moves_to(session_of(client, hermes))
    said.turn("I moved to Lisbon in March.")
    for _ in range(4):
        said.turn()

    # A subagent works while the conversation goes on, and reports when it is done.
    parent_done = threading.Event()
    model.on("Count the boats", Say("There are 41 boats.", after=parent_done))
    said.turn("Have the boats counted.", uses="delegate_task", goal="Count the boats.")
    hermes.settle()
    parent_done.set()
    model.on("[ASYNC DELEGATION", "The harbour has 41 boats.")
    assert hermes.idle() == ["The harbour has 41 boats."]
    said.hears("helper", "There are 41 boats.")
    said.hears("hermes", "The harbour has 41 boats.")

    said.turn("Note that I like tea.", uses="memory", action="add", target="user", content="Likes tea.")
    hermes.settle()

    hermes.command("/new")
    hermes.settle()
    said.moves_to(session_of(client, hermes))
    for _ in range(3):
        said.turn()

    model.on("Water the plants", "The plants are watered.")
    assert hermes.cron("Water the plants.")["answer"] == "The plants are watered."

    said.turn()
    hermes.settle()
    daemon.kill()
    for _ in range(3):
        said.turn()
    hermes.settle()
    daemon.start()
    for _ in range(3):
        said.turn()
    hermes.settle()
    daemon.wait_for_delivery()

    where = {"cwd": str(hermes.project)}
    wait_until(
        lambda: "Lisbon" in client.recall("Where do I live?", host=HOST, locator=where, peek=True).text,
        "memory of Lisbon",
        timeout_s=60.0,
    )
    before = len(model.requests)
    said.turn("Where do I live?")
    prompt = request_text(model.requests[before])
    assert "<memory-context>" in prompt
    assert "I moved to Lisbon in March." in prompt

    said.turn("What did I say of Lisbon?", uses="honcho_search", query="Lisbon")
    assert "I moved to Lisbon in March." in request_text({"messages": model.requests[-1]["messages"][-1:]})

    said.turn()
    assert said.turns == 20
    hermes.leave()
    daemon.wait_for_delivery()
    assert_arrived(remote, workspace, said.expected)
    conclusions = client.tool("honcho_conclude", {"list": True}, host=HOST, locator=where)
    assert "Likes tea." in conclusions["text"]


def test_people_in_chats_are_their_own_peers_and_nobody_else_has_memory(
    hermes: Hermes, daemon: DaemonProcess, model: ModelServer, remote: Remote, workspace: str
) -> None:
    model.on("I am Bea.", "Hello, Bea.")
    model.on("Who is here?", "Hello, all.")
    assert (
        hermes.chat("I am Bea.", who="7001", kind="dm", chat="agent-main-telegram-dm-7001") == "Hello, Bea."
    )
    assert (
        hermes.chat("Who is here?", who="7002", kind="group", chat="agent-main-telegram-group-9")
        == "Hello, all."
    )
    for context in ("subagent", "cron", "flush"):
        assert hermes.work(context) == {"tools": [], "block": "", "memory": ""}
    daemon.wait_for_delivery()
    expected = {
        "agent-main-telegram-dm-7001": [("7001", "I am Bea."), ("hermes", "Hello, Bea.")],
        "agent-main-telegram-group-9": [("7002", "Who is here?"), ("hermes", "Hello, all.")],
    }
    assert_arrived(remote, workspace, expected)


def test_a_compressed_run_goes_on_in_its_session_and_a_new_run_begins_another(
    make_daemon: Callable[..., DaemonProcess],
    hosts: dict[str, Any],
    model: ModelServer,
    remote: Remote,
    workspace: str,
) -> None:
    per_run = {"aiPeer": "hermes", "sessionStrategy": "per-session"}
    daemon = make_daemon({**hosts, "hosts": {HOST: per_run}}).start()
    # Hermes gives what it has compressed to a session of another name.
    rotating = {"compression": {"in_place": False, "protect_first_n": 1, "protect_last_n": 1}}
    with running_hermes(model, provider="honchod", environ=environ_of(daemon), settings=rotating) as hermes:
        first = [hermes.say(f"Message {number}.")["run"] for number in range(6)]
        hermes.command("/compress")
        first.append(hermes.say("Where were we?")["run"])
        assert first[0] != first[-1], hermes.log()
        hermes.command("/new")
        second = hermes.say("Something else.")["run"]
        hermes.leave()
    daemon.wait_for_delivery()
    expected = {
        first[0]: [f"Message {number}." for number in range(6)] + ["Where were we?"],
        second: ["Something else."],
    }
    held = {
        run: [text for who, text in spoken if who == "ann"]
        for run, spoken in arrived(remote, workspace).items()
    }
    assert held == expected


def test_a_turn_does_not_wait_for_a_slow_honcho(hermes: Hermes, network: Network) -> None:
    network.hit("*: delay=0.5")
    assert_not_blocked(hermes)


def test_a_turn_does_not_wait_for_a_honcho_that_is_away(hermes: Hermes, network: Network) -> None:
    network.take_down()
    assert_not_blocked(hermes)


def test_a_turn_does_not_wait_for_a_daemon_that_is_away(hermes: Hermes, daemon: DaemonProcess) -> None:
    hermes.say("Hello.")
    daemon.kill()
    assert_not_blocked(hermes)


def assert_not_blocked(hermes: Hermes) -> None:
    """What a turn waits for memory, at the median, stays below the bound in one of a few rounds.

    On a machine with more to do than it has cores, all things take that much longer, and so may this.
    """
    medians: list[float] = []
    for round_ in range(ROUNDS):
        waited = [
            hermes.say(f"Turn {turn} of round {round_}.")["waited_ms"] for turn in range(MEASURED_TURNS)
        ]
        medians.append(statistics.median(waited))
        if medians[-1] < BLOCKED_MS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)):
            return
    raise AssertionError(f"a turn waits for memory, at the median of each round: {medians} ms")

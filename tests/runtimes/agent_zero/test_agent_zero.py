"""Agent Zero with our plugin in it: a real one where AGENT_ZERO_HOME names a checkout, else its stand-in."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runtimes.agent_zero.running import HOME, AgentZero, AgentZeroModel, running_agent_zero
from runtimes.model_server import ModelServer, Use
from runtimes.oracle import assert_arrived
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until

HOST = "agent-zero"
BLOCKED_MS = 20.0
"""How long a turn may be held up, at the median, on a machine that is not busy with other things."""
HONCHO_S = 0.5
BUSY_BLOCKED_MS = HONCHO_S * 1000 / 2
BLOCKED_TURNS = 12
ROUNDS = 3


@pytest.fixture(scope="module", autouse=True)
def said_which() -> None:
    """Tell which Agent Zero is shown to work."""
    print(f"Agent Zero: {HOME or 'its documented interface only; set AGENT_ZERO_HOME for a real one'}")


@pytest.fixture
def daemon(make_daemon: Callable[..., DaemonProcess], hosts: dict[str, Any]) -> DaemonProcess:
    """A daemon that knows Agent Zero, and keeps what its subordinates and its scheduler say."""
    block = {"authorPeers": {"subagent": "helper", "cron": "clock"}}
    return make_daemon({**hosts, "hosts": {HOST: block}}).start()


@pytest.fixture
def model() -> Iterator[AgentZeroModel]:
    """A model that answers ``Understood.`` until a test tells it otherwise."""
    model = AgentZeroModel()
    model.start()
    yield model
    model.stop()


@pytest.fixture
def helper() -> Iterator[ModelServer]:
    """The model that Agent Zero uses for chores."""
    helper = ModelServer()
    helper.start()
    yield helper
    helper.stop()


@pytest.fixture
def agent_zero(daemon: DaemonProcess, model: AgentZeroModel, helper: ModelServer) -> Iterator[AgentZero]:
    """Agent Zero, running."""
    with running_agent_zero(model, helper, daemon) as agent_zero:
        yield agent_zero


def session_of(daemon: DaemonProcess, name: str) -> str:
    """The Honcho session of a chat."""
    with daemon.client() as client:
        return str(client.resolve_session(name, host=HOST)["session"])


def test_twenty_turns_with_reset_subordinate_and_task_arrive_once_in_order_though_the_daemon_is_killed(
    daemon: DaemonProcess, agent_zero: AgentZero, model: AgentZeroModel, remote: Remote, workspace: str
) -> None:
    model.on("Have somebody count", Use("call_subordinate", {"message": "Count the boxes.", "reset": "true"}))
    model.on("Count the boxes.", "There are 41 boxes.")
    model.on("There are 41 boxes.", "Somebody counted 41.")
    model.on("Say walk!", "Time for a walk!")
    said: list[tuple[str, str]] = []

    def say(text: str, *answers: tuple[str, str]) -> None:
        agent_zero.say(text)
        said.append(("ann", text))
        said.extend(answers or (("bot", "Understood."),))

    for number in range(1, 8):
        say(f"This is note {number}: shelf {number * 7} is full.")
    counted = (("helper", "There are 41 boxes."), ("bot", "Somebody counted 41."))
    say("Have somebody count them, please.", *counted)
    agent_zero.schedule("Say walk!")
    said += [("clock", "## Task:\nSay walk!"), ("bot", "Time for a walk!")]
    before_reset = list(said)
    agent_zero.reset()
    said.clear()
    for number in range(1, 5):
        say(f"A new matter, part {number}.")
    daemon.kill()
    for number in range(5, 10):
        say(f"A new matter, part {number}.")
    daemon.start()
    for number in range(10, 13):
        say(f"A new matter, part {number}.")

    first, second = session_of(daemon, "chat-first"), session_of(daemon, "chat-first#2")
    assert first != second
    assert_arrived(remote, workspace, {first: before_reset, second: said})


def test_memory_is_in_the_prompt_and_two_chats_share_it(
    daemon: DaemonProcess, agent_zero: AgentZero, model: AgentZeroModel
) -> None:
    agent_zero.say("I moved to Lisbon in March.")
    daemon.wait_for_delivery()

    def remembered() -> bool:
        agent_zero.say("Where do I live?", chat="second")
        asked = model.prompts()[-1]
        return "<memory-context>" in asked and "Lisbon" in asked

    wait_until(remembered, "Lisbon in the prompt", timeout_s=60)


def test_the_tool_is_told_to_the_model_and_answers_it(
    daemon: DaemonProcess, agent_zero: AgentZero, model: AgentZeroModel
) -> None:
    agent_zero.say("My cat is called Minka.")
    daemon.wait_for_delivery()
    look = {"action": "search", "query": "cat", "where": "session"}
    model.on("look it up", Use("honcho_memory", look))
    model.on("for good", Use("honcho_memory", {"action": "remember", "content": "Ann has a cat, Minka."}))

    agent_zero.say("What was my cat called? Please look it up.")
    found = model.prompts()[-1]
    agent_zero.say("Remember my cat for good.")
    kept = model.prompts()[-1]

    assert "## honcho_memory" in found
    assert "Minka" in found.rpartition("tool_result")[2]
    assert "Remembered" in kept.rpartition("tool_result")[2]


def test_a_secret_of_agent_zero_goes_no_further(
    daemon: DaemonProcess, agent_zero: AgentZero, remote: Remote, workspace: str
) -> None:
    (agent_zero.place / "usr" / "secrets.env").write_text('DOOR="blue-heron-9417"\n')

    agent_zero.say("The door opens with blue-heron-9417, not with §§secret(OTHER).")

    expected = "The door opens with [secret DOOR], not with [secret](OTHER)."
    assert_arrived(
        remote,
        workspace,
        {session_of(daemon, "chat-first"): [("ann", expected), ("bot", "Understood.")]},
    )


@pytest.mark.parametrize("honcho", ["slow", "away"])
def test_a_turn_is_hardly_held_up(agent_zero: AgentZero, network: Network, honcho: str) -> None:
    if honcho == "slow":
        network.hit(f"*: delay={HONCHO_S}")
    else:
        network.take_down()
    medians: list[float] = []
    while not medians or (min(medians) >= BLOCKED_MS and len(medians) < ROUNDS):
        held_ms = [agent_zero.say(f"Turn {turn}.") for turn in range(BLOCKED_TURNS)]
        medians.append(statistics.median(held_ms))
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    held = f"held up {min(medians):.1f} ms a turn at the median, {min(held_ms):.1f} ms at best"
    print(f"Agent Zero, Honcho {honcho}: {held}; busy: {busy}")
    assert min(medians) < (BUSY_BLOCKED_MS if busy else BLOCKED_MS)

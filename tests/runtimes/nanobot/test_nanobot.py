"""nanobot's gateway with our plugin in it, installed from the registry and driven over its WebSocket."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runtimes.install import ROOT, python_runtime
from runtimes.model_server import ModelServer, Say, Use
from runtimes.nanobot.gateway import Chat, Gateway, chat_with, environment, settings
from runtimes.oracle import assert_arrived
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until

NANOBOT = "nanobot-ai==0.3.5"
ADAPTER = ROOT / "deploy" / "integrations" / "nanobot"
BLOCKED = Path(__file__).with_name("blocked.py")
HONCHO_S = 0.5
"""How long the slow Honcho takes to answer."""
BLOCKED_MS = 20.0
"""How long a turn may be held up, at the median, on a machine that is not busy with other things."""
BUSY_BLOCKED_MS = HONCHO_S * 1000 / 2
"""The same where processes queue for the processor: surely nobody waited for Honcho."""
BLOCKED_TURNS = 20
ROUNDS = 3
"""How often that is measured: the best counts."""


@pytest.fixture(scope="session")
def venv() -> Path:
    """Nanobot's environment with the plugin in it."""
    place = python_runtime("nanobot", [NANOBOT])
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--force-reinstall", str(ADAPTER)], check=True)
    return place


@pytest.fixture
def daemon(make_daemon: Callable[..., DaemonProcess], hosts: dict[str, Any]) -> DaemonProcess:
    """A daemon that knows nanobot."""
    return make_daemon({**hosts, "hosts": {"nanobot": {}}}).start()


@pytest.fixture
def gateway(venv: Path, daemon: DaemonProcess, model: ModelServer) -> Iterator[Gateway]:
    """nanobot, running."""
    gateway = Gateway(venv, model.url, daemon)
    try:
        gateway.start()
        yield gateway
    finally:
        gateway.close()


@pytest.fixture
def chat(gateway: Gateway) -> Iterator[Chat]:
    """A chat with it."""
    with chat_with(gateway) as chat:
        yield chat


def session_of(daemon: DaemonProcess, chat: Chat, conversation: int = 1) -> str:
    """The Honcho session of a conversation of a chat."""
    name = chat.key if conversation == 1 else f"{chat.key}#{conversation}"
    with daemon.client() as client:
        return str(client.resolve_session(name, host="nanobot")["session"])


@contextmanager
def spawned_is_told(model: ModelServer, told: threading.Event) -> Iterator[None]:
    """Sets the event once the model was told that its subagent was started, which is before it reports."""

    def watch() -> None:
        wait_until(
            lambda: any("started (id:" in prompt for prompt in model.prompts()),
            "the model to be told of its subagent",
            timeout_s=50,
        )
        told.set()

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        watching.join()


def test_twenty_turns_with_new_subagent_and_cron_arrive_once_in_order_though_the_daemon_is_killed(
    daemon: DaemonProcess, chat: Chat, model: ModelServer, remote: Remote, workspace: str
) -> None:
    model.on("Have somebody count the boxes", Use("spawn", {"task": "Count the boxes.", "label": "boxes"}))
    model.on("started (id:", "Somebody counts them.")
    with_the_model = threading.Event()
    model.on("Count the boxes.", Say("There are 41 boxes.", after=with_the_model))
    model.on("[Subagent 'boxes'", "There are 41.")
    model.on("Created job", "I will.")
    model.on("Say: walk!", "Time for a walk!")
    said: list[tuple[str, str]] = []

    def say(text: str, *answers: str) -> None:
        chat.say(text)
        said.append(("ann", text))
        said.extend(("bot", answer) for answer in answers or ("Understood.",))

    for number in range(1, 8):
        say(f"This is note {number}: shelf {number * 7} is full.")
    with spawned_is_told(model, with_the_model):
        say("Have somebody count the boxes, please.", "Somebody counts them.", "There are 41.")
    soon = (datetime.now(UTC) + timedelta(seconds=15)).isoformat()
    model.on("Remind me", Use("cron", {"action": "add", "name": "walk", "message": "Say: walk!", "at": soon}))
    say("Remind me of my walk in a moment.", "I will.")
    chat.wait_for_turn()
    said.append(("bot", "Time for a walk!"))
    before_new = list(said)
    chat.say("/new")
    said.clear()
    for number in range(1, 5):
        say(f"A new matter, part {number}.")
    daemon.kill()
    for number in range(5, 9):
        say(f"A new matter, part {number}.")
    daemon.start()
    for number in range(9, 12):
        say(f"A new matter, part {number}.")

    daemon.wait_for_delivery()
    first, second = session_of(daemon, chat), session_of(daemon, chat, 2)
    assert first != second
    assert_arrived(remote, workspace, {first: before_new, second: said})


def test_memory_of_an_earlier_conversation_is_in_the_prompt_of_the_next(
    daemon: DaemonProcess, chat: Chat, model: ModelServer
) -> None:
    chat.say("I moved to Lisbon in March, and my bicycle is green.")
    daemon.wait_for_delivery()
    chat.say("/new")

    def remembered() -> bool:
        chat.say("Where do I live?")
        asked = model.prompts()[-1]
        return "<memory-context>" in asked and "Lisbon" in asked

    wait_until(remembered, "Lisbon in the prompt", timeout_s=60)


def test_the_tool_answers_the_model(daemon: DaemonProcess, chat: Chat, model: ModelServer) -> None:
    chat.say("My cat is called Minka.")
    daemon.wait_for_delivery()
    model.on("look it up", Use("honcho_memory", {"action": "search", "query": "cat", "where": "session"}))
    model.on("for good", Use("honcho_memory", {"action": "remember", "content": "Ann has a cat, Minka."}))

    chat.say("What was my cat called? Please look it up.")
    found = model.requests[-1]["messages"][-1]
    chat.say("Remember my cat for good.")
    kept = model.requests[-1]["messages"][-1]

    assert (found["role"], found["name"]) == ("tool", "honcho_memory")
    assert "Minka" in found["content"]
    assert kept["role"] == "tool"
    assert not kept["content"].startswith("Error")


def test_a_crash_of_nanobot_repeats_and_loses_nothing(
    daemon: DaemonProcess,
    gateway: Gateway,
    chat: Chat,
    remote: Remote,
    workspace: str,
) -> None:
    chat.say("Before the crash.")
    gateway.kill()
    assert gateway.handed_over(chat.key).endswith("assistant")
    gateway.start()
    with chat_with(gateway) as again:
        again.say("After the crash.")
        expected = {
            session_of(daemon, chat): [("ann", "Before the crash."), ("bot", "Understood.")],
            session_of(daemon, again): [("ann", "After the crash."), ("bot", "Understood.")],
        }
        assert_arrived(remote, workspace, expected)


def test_what_is_said_while_the_daemon_is_away_lands_in_its_own_conversation(
    daemon: DaemonProcess, chat: Chat, remote: Remote, workspace: str
) -> None:
    chat.say("The daemon is there.")
    daemon.kill()
    chat.say("The daemon is away.")
    chat.say("/new")
    chat.say("It is still away.")
    chat.say("/new")
    chat.say("It is away even now.")
    daemon.start()
    chat.say("It is back.")

    expected = {
        session_of(daemon, chat, 1): ["The daemon is there.", "The daemon is away."],
        session_of(daemon, chat, 2): ["It is still away."],
        session_of(daemon, chat, 3): ["It is away even now.", "It is back."],
    }
    dialogues = {
        session: [turn for line in lines for turn in (("ann", line), ("bot", "Understood."))]
        for session, lines in expected.items()
    }
    assert_arrived(remote, workspace, dialogues)


@pytest.mark.parametrize("honcho", ["slow", "away"])
def test_a_turn_is_hardly_held_up(
    venv: Path, daemon: DaemonProcess, model: ModelServer, network: Network, tmp_path: Path, honcho: str
) -> None:
    if honcho == "slow":
        network.hit(f"*: delay={HONCHO_S}")
    else:
        network.take_down()
    config = tmp_path / "config.json"
    config.write_text(json.dumps(settings(tmp_path, model.url)))
    medians: list[float] = []
    while not medians or (min(medians) >= BLOCKED_MS and len(medians) < ROUNDS):
        done = subprocess.run(
            [str(venv / "bin" / "python"), str(BLOCKED), str(config), str(BLOCKED_TURNS)],
            env=environment(tmp_path, daemon),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        held_ms = json.loads(done.stdout)
        medians.append(statistics.median(held_ms))
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    held = f"held up {min(medians):.1f} ms a turn at the median, {min(held_ms):.1f} ms at best"
    print(f"nanobot, Honcho {honcho}: {held}; busy: {busy}")
    assert min(medians) < (BUSY_BLOCKED_MS if busy else BLOCKED_MS)

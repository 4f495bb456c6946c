"""Our plugin inside Claude Code: its plugin commands, its hooks, its subagents, its MCP client."""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from honchod.client import Client
from runtimes.claude_code.program import PLUGIN, TOOL, ClaudeCode, Conversation
from runtimes.install import node_runtime
from runtimes.model_server import ModelServer, Reply, Use, request_text
from runtimes.oracle import Spoken, assert_arrived
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network
from support.waiting import wait_until

PACKAGES = ("@anthropic-ai/claude-code@2.1.332",)
HOST = "claude_code"
BLOCKED_MS = 20.0
"""What a turn may wait for memory at most, at the median."""

MEASURED_TURNS = 12
ROUNDS = 3


@pytest.fixture
def daemon(make_daemon: Callable[..., DaemonProcess], hosts: dict[str, Any]) -> DaemonProcess:
    """A running daemon that knows Claude Code, and keeps what its subagents answer."""
    claude = {"aiPeer": "claude", "authorPeers": {"subagent": "helper"}}
    return make_daemon({**hosts, "hosts": {HOST: claude}}).start()


@pytest.fixture
def claude(daemon: DaemonProcess, model: ModelServer) -> Iterator[ClaudeCode]:
    """Claude Code with the plugin, installed as its page says."""
    program = node_runtime("claude_code", PACKAGES) / "node_modules" / ".bin" / "claude"
    environ = {"HONCHOD_SOCKET": str(daemon.socket), "HONCHOD_DROP": str(daemon.drop_dir)}
    claude = ClaudeCode(program, model.origin, environ)
    try:
        for command in install_commands():
            claude.run(*command.replace('"$PWD"', str(PLUGIN)).split()[1:])
        yield claude
    finally:
        claude.close()


def install_commands() -> list[str]:
    """What the install page says of Claude Code."""
    block = re.search(r"## Install\n.*?```sh\n(.*?)```", (PLUGIN / "README.md").read_text(), re.DOTALL)
    assert block is not None
    return [line for line in block[1].splitlines() if line.startswith("claude ")]


class Talk:
    """Turns as they are said, and what must be in Honcho of them, by session."""

    def __init__(self, model: ModelServer) -> None:
        self._model = model
        self.expected: dict[str, list[Spoken]] = {}
        self.turns = 0

    def turn(self, conversation: Conversation, text: str = "", *, uses: tuple[Use, ...] = ()) -> None:
        """A turn, with calls of tools where given."""
        self.turns += 1
        text, reply = text or f"This is turn {self.turns}.", f"Reply {self.turns}."
        replies: list[Reply | str] = [*uses, reply]
        self._model.on(text, replies[0])
        self._model.script(*replies[1:])
        assert conversation.say(text) == reply
        said = self.expected.setdefault(conversation.session, [])
        said += [("ann", text), ("claude", reply)]


def test_twenty_turns_arrive_once_and_in_order_and_are_recalled(
    claude: ClaudeCode, daemon: DaemonProcess, model: ModelServer, remote: Remote, workspace: str
) -> None:
    talk = Talk(model)
    with claude.conversation() as here:
        talk.turn(here, "I moved to Lisbon in March.")
        for _ in range(5):
            talk.turn(here)

        counts = {
            "description": "Count boats",
            "prompt": "Count the boats.",
            "subagent_type": "general-purpose",
        }
        model.on("Count the boats.", "There are 41 boats.")
        talk.turn(
            here, "Have the boats counted.", uses=(Use("Agent", {**counts, "run_in_background": False}),)
        )
        talk.expected[here.session].insert(-1, ("helper", "There are 41 boats."))

        here.say("/clear")
        for _ in range(3):
            talk.turn(here)
        daemon.kill()
        for _ in range(3):
            talk.turn(here)
        daemon.start()
        for _ in range(3):
            talk.turn(here)
        daemon.wait_for_delivery()

        with Client(daemon.socket) as client:
            where: dict[str, Any] = {"host": HOST, "session": here.session, "peek": True}
            wait_until(
                lambda: "Lisbon" in client.recall("Where do I live?", **where).text, "memory of Lisbon"
            )
        before = len(model.requests)
        talk.turn(here, "Where do I live?")
        prompt = request_text(model.requests[before])
        assert "<memory-context>" in prompt
        assert "I moved to Lisbon in March." in prompt

        find = Use("ToolSearch", {"query": f"select:{TOOL}"})
        talk.turn(here, "What did I say of Lisbon?", uses=(find, Use(TOOL, {"query": "Lisbon"})))
        assert "I moved to Lisbon in March." in request_text(
            {"messages": model.requests[-1]["messages"][-2:]}
        )
        for _ in range(2):
            talk.turn(here)
    assert talk.turns == 20
    daemon.wait_for_delivery()
    assert_arrived(remote, workspace, talk.expected)


def event(name: str, turn: int = 1, **fields: str | None) -> dict[str, Any]:
    """What Claude Code tells its hook."""
    return {"session_id": "s", "hook_event_name": name, "prompt_id": f"p{turn}", **fields}


def test_a_hook_that_runs_twice_keeps_a_message_once(
    claude: ClaudeCode, daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    for answer in ("Noted.", "Noted. And more.", "", None):
        for _ in range(2):
            claude.hook(event("UserPromptSubmit", prompt="I moved to Lisbon.\nReally."))
            claude.hook(event("Stop", last_assistant_message=answer))
    daemon.wait_for_delivery()
    said = [("ann", "I moved to Lisbon.\nReally."), ("claude", "Noted."), ("claude", "Noted. And more.")]
    assert_arrived(remote, workspace, {"s": said})


def test_the_hook_never_fails_a_prompt(
    claude: ClaudeCode, daemon: DaemonProcess, remote: Remote, workspace: str
) -> None:
    daemon.kill()
    assert claude.hook(event("SessionStart", source="startup"))[0] == ""
    assert claude.hook(event("UserPromptSubmit", prompt="Hello."))[0] == ""
    assert claude.hook(event("Stop", last_assistant_message="Half an emoji: \ud83d"))[0] == ""
    assert claude.hook(event("SessionEnd", reason="other"))[0] == ""
    assert claude.hook({})[0] == ""
    daemon.start()
    assert_arrived(remote, workspace, {"s": [("ann", "Hello."), ("claude", "Half an emoji: \ufffd")]})


def test_a_prompt_does_not_wait_for_honcho(claude: ClaudeCode, network: Network) -> None:
    """Starting a program has its price, which has nothing to do with where memory is."""
    blocked = []
    for round_ in range(ROUNDS):
        network.heal()
        near_ms = median_ms(claude, f"near {round_}")
        network.hit("*: delay=0.5")
        slow_ms = median_ms(claude, f"slow {round_}")
        network.heal()
        network.take_down()
        away_ms = median_ms(claude, f"away {round_}")
        print(
            f"a prompt's hook takes {near_ms:.0f} ms; Honcho slow: {slow_ms:.0f} ms, away: {away_ms:.0f} ms"
        )
        blocked.append(max(slow_ms, away_ms) - near_ms)
        if blocked[-1] < BLOCKED_MS:
            break
    load = os.getloadavg()[0]
    if min(blocked) >= BLOCKED_MS and load > 2 * (os.cpu_count() or 1):
        pytest.skip(f"the machine is too busy: a load of {load:.1f}, and {min(blocked):.0f} ms")
    assert min(blocked) < BLOCKED_MS


def median_ms(claude: ClaudeCode, what: str) -> float:
    """How long the hook holds a prompt up."""
    prompts = [event("UserPromptSubmit", prompt=f"Prompt {turn} {what}.") for turn in range(MEASURED_TURNS)]
    for turn, prompt in enumerate(prompts):
        prompt["prompt_id"] = f"{what} {turn}"
    return statistics.median(claude.hook(prompt)[1] for prompt in prompts)

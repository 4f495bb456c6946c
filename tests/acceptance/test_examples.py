"""The examples of ``deploy/examples`` do what they say, on a real daemon."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.daemon import DaemonProcess
from support.honcho import Remote
from support.waiting import wait_until

EXAMPLES = Path(__file__).parents[2] / "deploy" / "examples"
HOOKS = EXAMPLES / "claude_code"
LIVE = bool(os.environ.get("HONCHOD_LIVE_URL"))

needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="the hooks need jq")


class Machine:
    """A shell with ``honchod`` on its path and a daemon behind it."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self.daemon = daemon
        programs = daemon.directory / "bin"
        programs.mkdir()
        program = programs / "honchod"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m honchod "$@"\n')
        program.chmod(0o755)
        self.environ = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HONCHOD_SOCKET": str(daemon.socket),
            "HONCHOD_DROP": str(daemon.drop_dir),
        }

    def run(self, *command: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=self.environ,
        )

    def hook(self, name: str, **event: Any) -> str:
        done = self.run(HOOKS / name, stdin=json.dumps({"session_id": "s", **event}))
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def machine(make_daemon: Callable[..., DaemonProcess], hosts: dict[str, Any]) -> Machine:
    own = {"claude_code": {"aiPeer": "claude"}}
    return Machine(make_daemon({**hosts, "hosts": own}).start())


def transcript(directory: Path, *texts: str) -> Path:
    """A transcript as Claude Code writes it."""
    lines = [{"type": "user", "uuid": "u", "message": {"role": "user", "content": "hello"}}]
    lines += [
        {
            "type": "assistant",
            "uuid": f"a{number}",
            "message": {"content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": text}]},
        }
        for number, text in enumerate(texts)
    ]
    tool = {"type": "assistant", "uuid": "t", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}}
    path = directory / "transcript.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, tool]))
    return path


@needs_jq
def test_the_hooks_keep_a_turn_and_give_memory_back(machine: Machine, remote: Remote, workspace: str) -> None:
    machine.hook("user_prompt_submit.sh", prompt="I moved to Lisbon.\nReally.")
    path = transcript(machine.daemon.directory, "Before.", "Noted: Lisbon.")
    for _ in range(2):
        machine.hook("stop.sh", transcript_path=str(path))
    machine.daemon.wait_for_delivery()
    said = [(one["peer_id"], one["content"]) for one in remote.messages(workspace, "s")]
    assert said == [("ann", "I moved to Lisbon.\nReally."), ("claude", "Noted: Lisbon.")]
    if not LIVE:
        # Memory follows when Honcho has derived from what was said.
        wait_until(
            lambda: "Lisbon" in machine.hook("session_start.sh", source="startup"),
            "what was said",
            timeout_s=60,
        )
        assert "<memory-context>" in machine.hook("user_prompt_submit.sh", prompt="Where do I live?")


@needs_jq
def test_the_hooks_never_fail_a_prompt(machine: Machine) -> None:
    machine.daemon.stop()
    assert machine.hook("session_start.sh") == ""
    assert machine.hook("user_prompt_submit.sh", prompt="hello") == ""
    assert machine.hook("stop.sh", transcript_path="/nowhere") == ""
    assert machine.run(HOOKS / "stop.sh", stdin="{}").returncode == 0


def test_the_settings_name_the_hooks_that_are_there() -> None:
    hooks = json.loads((HOOKS / "settings.json").read_text())["hooks"]
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "Stop"}
    for entries in hooks.values():
        command = Path(entries[0]["hooks"][0]["command"])
        assert os.access(HOOKS / command.name, os.X_OK)


def test_python_talks_over_the_plain_socket(machine: Machine) -> None:
    done = machine.run(sys.executable, EXAMPLES / "python_socket.py", "s", "I moved to Lisbon.")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["written"][0]["status"] == "queued"
    assert "I moved to Lisbon." in answer["found"]


@pytest.mark.skipif(LIVE, reason="needs a model that answers")
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_node_talks_over_the_plain_socket(machine: Machine) -> None:
    done = machine.run("node", EXAMPLES / "node_socket.mjs", "s", "I moved to Lisbon.")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["written"][0]["status"] == "queued"
    assert answer["answer"]

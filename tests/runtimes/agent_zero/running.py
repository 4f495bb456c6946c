"""Agent Zero as a process of its own, told what its user does; or what stands in for it."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runtimes.install import ROOT
from runtimes.model_server import MODEL, ModelServer, Reply, Say, Use
from support.daemon import DaemonProcess

HOME = os.environ.get("AGENT_ZERO_HOME")
"""A checkout of Agent Zero. Without one the stand-in shows what is documented, not what is."""

PYTHON = os.environ.get("AGENT_ZERO_PYTHON", sys.executable)
"""The Python of Agent Zero's environment, with its requirements and honchod in it."""

STAND_IN = Path(__file__).with_name("host")
DRIVER = Path(__file__).with_name("driver.py")
PLUGIN = ROOT / "deploy" / "integrations" / "agent-zero" / "honchod"
ANSWER_TIMEOUT_S = 180.0
NOT_ASKED_FOR = ("_memory", "_browser_agent", "_telegram_integration", "_whatsapp_integration")
"""Plugins of Agent Zero's own that want a vector database, a browser, the internet."""


class AgentZeroModel(ModelServer):
    """A model that speaks as Agent Zero's must: every reply is a call of a tool, in JSON."""

    def reply_to(self, body: dict[str, Any]) -> tuple[int, Reply]:
        """The words of a reply are the argument of ``response``."""
        number, reply = super().reply_to(body)
        if isinstance(reply, Use):
            call = {"tool_name": reply.tool, "tool_args": reply.arguments}
        else:
            call = {"tool_name": "response", "tool_args": {"text": reply.text}}
        return number, Say(json.dumps({"thoughts": [], "headline": "Thinking", **call}))


class AgentZero:
    """One run in a place of its own. Close it with its test."""

    def __init__(self, model: ModelServer, helper: ModelServer, daemon: DaemonProcess) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="honchod-agent-zero-"))
        self.place = self._home / "a0"
        left_out = shutil.ignore_patterns(".git", "__pycache__")
        shutil.copytree(HOME or STAND_IN, self.place, ignore=left_out)
        plugins = self.place / "usr" / "plugins"
        shutil.copytree(PLUGIN, plugins / "honchod", ignore=left_out)
        for name in NOT_ASKED_FOR:
            (plugins / name).mkdir()
            (plugins / name / ".toggle-0").touch()
        (plugins / "_model_config").mkdir()
        (plugins / "_model_config" / "config.json").write_text(json.dumps(_models(model, helper)))
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "LANG": "C.UTF-8",
            "MODEL_URL": model.url,
            "HONCHOD_SOCKET": str(daemon.socket),
            "HONCHOD_DROP": str(daemon.drop_dir),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; the user has not said anything yet."""
        with (self._home / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [PYTHON, str(DRIVER), "--dockerized=true"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env=self._environ,
                cwd=self.place,
                bufsize=0,
            )
        self._answer()

    def say(self, text: str, chat: str = "first") -> float:
        """A turn in a chat; for how many milliseconds the plugin held it up."""
        return float(self._do("say", chat=chat, text=text)["held_ms"])

    def reset(self, chat: str = "first") -> None:
        """Reset a chat."""
        self._do("reset", chat=chat)

    def schedule(self, prompt: str, chat: str = "first") -> None:
        """Have the scheduler run a task in a chat."""
        self._do("schedule", chat=chat, prompt=prompt)

    def log(self) -> str:
        """The end of what it printed."""
        return (self._home / "output").read_text("utf-8", "replace")[-6000:]

    def close(self) -> None:
        """End it, and remove its place."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _do(self, what: str, **details: str) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"does": what, **details}).encode() + b"\n")
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], ANSWER_TIMEOUT_S)
        assert readable, f"Agent Zero says nothing; it printed {self.log()}"
        line = self._process.stdout.readline()
        assert line, f"Agent Zero ended; it printed {self.log()}"
        return dict(json.loads(line))


@contextmanager
def running_agent_zero(model: ModelServer, helper: ModelServer, daemon: DaemonProcess) -> Iterator[AgentZero]:
    """Agent Zero while the block runs."""
    agent_zero = AgentZero(model, helper, daemon)
    try:
        agent_zero.start()
        yield agent_zero
    finally:
        agent_zero.close()


def _models(model: ModelServer, helper: ModelServer) -> dict[str, Any]:
    def at(server: ModelServer) -> dict[str, Any]:
        return {
            "provider": "openai",
            "name": MODEL,
            "api_key": "none",
            "api_base": server.url,
            "ctx_length": 200_000,
            "kwargs": {},
        }

    return {"chat_model": at(model), "utility_model": at(helper), "embedding_model": {}}

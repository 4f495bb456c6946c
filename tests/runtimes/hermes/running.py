"""Hermes as a process of its own, with one memory provider, told what its user does."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runtimes.install import ROOT, python_runtime
from runtimes.model_server import MODEL, ModelServer

REQUIREMENTS = ("hermes-agent[honcho]==0.19.0",)
"""Its own Honcho provider comes with the extra."""

PLUGIN = ROOT / "deploy" / "integrations" / "hermes"
DRIVER = Path(__file__).with_name("driver.py")
ANSWER_TIMEOUT_S = 120.0


class Hermes:
    """One run of Hermes in a home of its own. Close it with its test."""

    def __init__(
        self,
        model: ModelServer,
        *,
        provider: str,
        environ: Mapping[str, str],
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._python = python_runtime("hermes", REQUIREMENTS) / "bin" / "python"
        self.home = Path(tempfile.mkdtemp(prefix="hermes-"))
        self.hermes_home = self.home / ".hermes"
        self.project = self.home / "project"
        self.project.mkdir()
        plugins = self.hermes_home / "plugins"
        plugins.mkdir(parents=True)
        shutil.copytree(PLUGIN, plugins / "honchod", ignore=shutil.ignore_patterns("__pycache__"))
        (self.hermes_home / "config.yaml").write_text(
            json.dumps({**_config(model, provider), **(settings or {})})
        )
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HERMES_HOME": str(self.hermes_home),
            "LANG": "C.UTF-8",
            **environ,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Hermes:
        """Start it, another time too; the user has not said anything yet."""
        self._reap()
        with (self.home / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [str(self._python), str(DRIVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env=self._environ,
                cwd=self.project,
                bufsize=0,
            )
        self._answer()
        return self

    def say(self, text: str) -> dict[str, Any]:
        """A turn: ``{answer, waited_ms, run}``: how long it waited for memory, and Hermes's own session."""
        return self._do("say", text=text)

    def command(self, text: str) -> None:
        """A slash command."""
        self._do("command", text=text)

    def cron(self, prompt: str) -> dict[str, Any]:
        """A job that Hermes's scheduler runs: ``{done, answer, error}``."""
        return self._do("cron", prompt=prompt)

    def chat(self, text: str, *, who: str, kind: str, chat: str) -> str:
        """A turn of somebody in a chat of a platform; the answer."""
        return str(self._do("chat", text=text, who=who, kind=kind, chat=chat)["answer"])

    def work(self, context: str) -> dict[str, Any]:
        """A turn in an agent context that is no conversation: its ``tools``, ``block`` and ``memory``."""
        return self._do("work", context=context)

    def idle(self) -> list[str]:
        """Let subagents end and report; what Hermes said to that."""
        return list(self._do("idle")["answers"])

    def settle(self) -> None:
        """Wait until what Hermes does behind its turns is done."""
        assert self._do("settle")["settled"], self.log()

    def leave(self) -> None:
        """The user leaves: the end of the session, as the command line does it."""
        self._do("leave")

    def end(self) -> None:
        """Let the process end by itself."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(ANSWER_TIMEOUT_S)

    def kill(self) -> None:
        """SIGKILL: no time to do anything."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(30)

    def log(self) -> str:
        """What it printed and logged, the end of it."""
        files = [self.home / "output", *sorted((self.hermes_home / "logs").glob("*.log"))]
        return "\n".join(f"{file.name}: {file.read_text('utf-8', 'replace')[-3000:]}" for file in files)

    def close(self) -> None:
        """End it and remove its home."""
        self._reap()
        shutil.rmtree(self.home, ignore_errors=True)

    def _reap(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait(30)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process = None

    def _do(self, what: str, **details: str) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"does": what, **details}).encode() + b"\n")
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], ANSWER_TIMEOUT_S)
        assert readable, f"Hermes says nothing; {self.log()}"
        line = self._process.stdout.readline()
        assert line, f"Hermes ended; {self.log()}"
        return dict(json.loads(line))


@contextmanager
def running_hermes(
    model: ModelServer,
    *,
    provider: str,
    environ: Mapping[str, str],
    settings: Mapping[str, Any] | None = None,
) -> Iterator[Hermes]:
    """Hermes while the block runs, with these ``settings`` of its own. Skips where it cannot be had."""
    hermes = Hermes(model, provider=provider, environ=environ, settings=settings)
    try:
        yield hermes.start()
    finally:
        hermes.close()


def _config(model: ModelServer, provider: str) -> dict[str, Any]:
    """Hermes's configuration: JSON is YAML."""
    return {
        "model": {
            "default": MODEL,
            "provider": "custom",
            "base_url": model.url,
            "api_key": "none",
            "context_length": 200_000,
        },
        "memory": {"provider": provider},
        "approvals": {"destructive_slash_confirm": False},
    }

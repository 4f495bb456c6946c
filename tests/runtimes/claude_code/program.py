"""The real Claude Code as a process that takes turns on stdin, and its hook as a program of its own."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runtimes.install import ROOT

PLUGIN = ROOT / "deploy" / "integrations" / "claude-code"
ANSWER_S = 120.0
TOOL = "mcp__plugin_honchod_honchod__honcho_search"
"""The search, by the name that Claude Code gives the tools of a plugin."""


class ClaudeCode:
    """A home with Claude Code in it, that talks to the model and the daemon it is told."""

    def __init__(self, program: Path, model_origin: str, environ: dict[str, str]) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="claude-"))
        self._program = program
        self._project = self.directory / "project"
        self._project.mkdir()
        programs = self.directory / "bin"
        programs.mkdir()
        (programs / "honchod").symlink_to(Path(sys.executable).parent / "honchod")
        foreign = ("HONCHO", "CLAUDE", "ANTHROPIC")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        self.environ = {
            **kept,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.directory),
            "ANTHROPIC_BASE_URL": model_origin,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            **environ,
        }

    def run(self, *words: str, directory: Path | None = None) -> str:
        """A command (`claude …`); what it prints. Fails where it fails."""
        done = subprocess.run(
            [str(self._program), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_S,
            env=self.environ,
            cwd=directory or self._project,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def hook(self, event: dict[str, Any]) -> tuple[str, float]:
        """Run the hook as Claude Code does: what it prints, and how many milliseconds it took."""
        began_s = time.perf_counter()
        done = subprocess.run(
            [str(PLUGIN / "hook.sh")],
            input=json.dumps(event),
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_S,
            env=self.environ,
            cwd=self._project,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, (time.perf_counter() - began_s) * 1000

    @contextmanager
    def conversation(self) -> Iterator[Conversation]:
        """One run of the program, for as many turns as one likes."""
        speaks = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        with (self.directory / "log").open("ab") as log:
            process = subprocess.Popen(
                [str(self._program), "-p", *speaks, "--allowedTools", TOOL, "ToolSearch", "Agent"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self.environ,
                cwd=self._project,
            )
        conversation = Conversation(process)
        try:
            yield conversation
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(ANSWER_S) == 0
        finally:
            process.kill()
            process.wait()
            conversation.close()

    def close(self) -> None:
        """Remove the home."""
        shutil.rmtree(self.directory, ignore_errors=True)


class Conversation:
    """What is said to a running program, and what it says."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._frames: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.session = ""

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._frames.put(json.loads(line))

    def close(self) -> None:
        """Let go of a program that has ended."""
        self._reader.join(ANSWER_S)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def say(self, text: str) -> str:
        """A turn: the answer. `session` is Claude Code's own id of the conversation then."""
        assert self._process.stdin is not None
        message = {"type": "user", "message": {"role": "user", "content": text}}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        deadline_s = time.monotonic() + ANSWER_S
        while True:
            frame = self._frames.get(timeout=max(0.0, deadline_s - time.monotonic()))
            if frame["type"] == "result":
                assert not frame["is_error"], frame
                self.session = frame["session_id"]
                return str(frame["result"])

"""The honchod command as a user runs it: a process, with or without a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "honchod")


def clean_environ() -> dict[str, str]:
    """The environment without what could point at another daemon or server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("HONCHO")}


@dataclass(frozen=True)
class Honchod:
    """The command, talking to the daemon on ``socket``."""

    socket: Path
    environ: dict[str, str] = field(default_factory=dict)

    def run(
        self, *arguments: str, stdin: str | None = None, timeout_s: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run it without a terminal."""
        return subprocess.run(
            [*COMMAND, *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
            env=self._environ(),
        )

    def run_as_nobody(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it as the user nobody, who may not read this installation: loaded before the user changes."""
        program = (
            "import os, sys\nfrom honchod.cli import app, main, send, status\n"
            "os.setgroups([])\nos.setgid(65534)\nos.setuid(65534)\n"
            f"sys.exit(main.dispatch({list(arguments)!r}))"
        )
        command = [sys.executable, "-c", program]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=60, env=self._environ()
        )

    def on_terminal(self, *arguments: str, typed: str = "") -> tuple[int, str]:
        """Run it on a terminal of 160 columns; its exit code and all that it wrote there."""
        terminal, its_end = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        child = self.start(*arguments, stdin=its_end, stdout=its_end, stderr=its_end, start_new_session=True)
        os.close(its_end)
        os.write(terminal, typed.encode())
        written = b"".join(_until_end(terminal))
        os.close(terminal)
        return child.wait(60), written.decode("utf-8", "replace")

    def in_dialogue(
        self, *arguments: str, answers: Sequence[tuple[str, str]], timeout_s: float = 60
    ) -> tuple[int, str]:
        """Run it on a terminal and type each answer once its question stands there; as `on_terminal`."""
        child, terminal = pty.fork()
        if child == 0:
            os.execvpe(COMMAND[0], [*COMMAND, *arguments], {**self._environ(), "TERM": "dumb"})
        written = b""
        answered = 0
        try:
            for question, answer in answers:
                while question.encode() not in written[answered:]:
                    assert select.select([terminal], [], [], timeout_s)[0], f"no {question!r} in {written!r}"
                    written += os.read(terminal, 65536)
                answered = len(written)
                os.write(terminal, f"{answer}\n".encode())
            written += b"".join(_until_end(terminal))
        finally:
            os.close(terminal)
            _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), written.decode("utf-8", "replace")

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start it in the background; its output goes where ``options`` say."""
        return subprocess.Popen([*COMMAND, *arguments], env=self._environ(), **options)

    def _environ(self) -> dict[str, str]:
        return {
            **clean_environ(),
            "HONCHOD_SOCKET": str(self.socket),
            "HONCHOD_DROP": str(self.socket.parent / "drop"),
            "TERM": "xterm-256color",
            **self.environ,
        }


def _until_end(terminal: int) -> Sequence[bytes]:
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # EIO: the other side has ended.
            return pieces
        if not piece:
            return pieces
        pieces.append(piece)

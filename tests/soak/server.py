"""The server side: a sandbox as a process that keeps what it holds, so that it too can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from soak.oracle import Piece
from support.waiting import wait_until


class Server:
    """One sandbox on one port; `restart` keeps both the port and what is stored."""

    def __init__(self, directory: Path) -> None:
        self._state = directory / "server.jsonl"
        self._log = directory / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.restarts = 0

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and return once it answers."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("HONCHO")}
        out = self._log.with_suffix(".out")
        with out.open("wb") as stdout, self._log.open("ab") as stderr:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "honchod", "sandbox"),
                    *("--port", str(self.port), "--state", str(self._state)),
                ],
                stdout=stdout,
                stderr=stderr,
                env=environ,
                start_new_session=True,
            )
        url = wait_until(
            lambda: text if (text := out.read_text()).endswith("\n") else None,
            f"the server to listen on {self.port or 'any port'}",
        )
        self.port = int(str(url).strip().rpartition(":")[2])

    def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)

    def restart(self) -> None:
        """Kill it and start it again."""
        self.kill()
        self.start()
        self.restarts += 1

    def hit(self, spec: str) -> None:
        """Set fault rules."""
        self._control("POST", "faults", {"spec": spec})

    def heal(self) -> None:
        """Unset all fault rules."""
        self._control("DELETE", "faults")

    def fired(self) -> int:
        """How many requests the rules that are set have hit."""
        return sum(standing["fired"] for standing in self._control("GET", "faults"))

    def pieces(self, workspace: str, session: str) -> list[Piece]:
        """What a session holds, in the order of storage."""
        query = urlencode({"workspace": workspace, "session": session})
        return [
            Piece(message["metadata"]["honchod_message"], message["metadata"].get("honchod_part", 1))
            for message in self._control("GET", f"messages?{query}")
        ]

    def _control(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.url}/sandbox/{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
        )

        def ask() -> tuple[bool, Any]:
            with urllib.request.urlopen(request, timeout=10) as answer:
                text = answer.read()
            return True, json.loads(text) if text else None

        # A rule may have taken the listener down for a moment.
        return wait_until(ask, f"the server to answer {method} {path}")[1]

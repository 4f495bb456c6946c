"""The demo's two processes: a sandbox server and a daemon, both of this very installation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from honchod.cli import interrupts
from honchod.client import Client, NotReachable

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 20.0
LOOK_INTERVAL_S = 0.02


T = TypeVar("T")


class DemoFailed(Exception):
    """Something in the demo did not come about; the text says what."""


def wait_for(what: str, condition: Callable[[], T], timeout_s: float = START_TIMEOUT_S) -> T:
    """The first answer of ``condition`` that is true; raises DemoFailed when none is in time."""
    deadline_s = time.monotonic() + timeout_s
    while not (answer := condition()):
        if time.monotonic() > deadline_s:
            raise DemoFailed(f"waited {timeout_s:g} s in vain for {what}")
        interrupts.pause(LOOK_INTERVAL_S)
    return answer


class _Process:
    """A subcommand of honchod as a child process, its output in ``<name>.out`` and ``<name>.log``."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        self.name = arguments[0]
        self._log = directory / f"{self.name}.log"
        self._out = directory / f"{self.name}.out"
        # The demo must neither use nor disturb what the caller's environment says about the real thing.
        environ = {name: value for name, value in os.environ.items() if not name.startswith("HONCHO")}
        with self._out.open("ab") as out, self._log.open("ab") as log:
            self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", "honchod", *arguments],
                stdin=subprocess.DEVNULL, stdout=out, stderr=log, cwd=directory,
                env={**environ, "HONCHOD_DROP": str(directory / "drop")},
            )  # fmt: skip

    def output(self) -> str:
        """What it has written to stdout."""
        return self._out.read_text()

    def check_alive(self) -> None:
        """Raises DemoFailed, with the last lines of its log, when it has ended by itself."""
        if self._child.poll() is not None:
            last_lines = "\n".join(self._log.read_text().splitlines()[-5:])
            raise DemoFailed(f"{self.name} ended with exit code {self._child.returncode}: {last_lines}")

    def kill(self) -> None:
        """SIGKILL: it gets no chance to tidy up."""
        self._child.kill()
        self._child.wait()

    def stop(self) -> None:
        """SIGTERM, and SIGKILL when that takes too long."""
        self._child.terminate()
        try:
            self._child.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()


class SandboxProcess(_Process):
    """A sandbox server, steered and looked into over HTTP."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, "sandbox", "--port", "0")
        self.url = ""

    def wait_ready(self) -> None:
        """Return once it listens; ``url`` is known from then on."""
        wait_for("the sandbox's URL", self._has_url)
        self.url = self.output().strip()

    def stored(self, workspace: str, session: str) -> list[tuple[str, str]]:
        """(message id, content) of a session's messages, in the order of storage."""
        query = urlencode({"workspace": workspace, "session": session})
        messages = self._control("GET", f"messages?{query}")
        return [(message["metadata"].get("honchod_message", ""), message["content"]) for message in messages]

    def message_requests(self) -> int:
        """How many requests with messages have come in."""
        return sum(
            request["method"] == "POST" and request["path"].endswith("/messages")
            for request in self._control("GET", "requests")
        )

    def add_fault(self, spec: str) -> None:
        """Let something go wrong; ``spec`` as in ``honchod sandbox --faults``."""
        self._control("POST", "faults", {"spec": spec})

    def _has_url(self) -> bool:
        self.check_alive()
        return self.output().endswith("\n")

    def _control(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/sandbox/{path}", data=data, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own, on loopback
                text = answer.read()
        except OSError as error:
            raise DemoFailed(f"the sandbox refused {method} {path}: {error}") from error
        return json.loads(text) if text else None


class DaemonProcess(_Process):
    """A daemon."""

    def __init__(self, directory: Path, config: Path) -> None:
        super().__init__(directory, "run", "--config", str(config), "--log-format", "json")

    def wait_ready(self, client: Client) -> None:
        """Return once it answers ``client`` that it is ready."""
        wait_for("the daemon to be ready", lambda: self._is_ready(client))

    def _is_ready(self, client: Client) -> bool:
        self.check_alive()
        try:
            return bool(client.ready()["ready"])
        except NotReachable:
            return False

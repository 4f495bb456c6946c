"""The examples of ``deploy/examples`` do what they say, on a real daemon."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.daemon import DaemonProcess

EXAMPLES = Path(__file__).parents[2] / "deploy" / "examples"
LIVE = bool(os.environ.get("HONCHOD_LIVE_URL"))


class Machine:
    """A shell that finds the daemon."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self.environ = {**os.environ, "HONCHOD_SOCKET": str(daemon.socket)}

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=self.environ,
        )


@pytest.fixture
def machine(make_daemon: Callable[..., DaemonProcess]) -> Machine:
    return Machine(make_daemon().start())


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

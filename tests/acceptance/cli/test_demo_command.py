"""``honchod demo`` and ``honchod sandbox``, as a newcomer runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest
from command import Honchod

# A few seconds each; on a machine that is busy with other things, minutes.
pytestmark = pytest.mark.timeout(300)


def test_the_demo_keeps_its_promises_and_leaves_nothing_behind(tmp_path: Path) -> None:
    honchod = Honchod(tmp_path / "unused.sock", {"TMPDIR": str(tmp_path)})
    done = honchod.run("demo", "--json", timeout_s=240)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["kept"], report["lost"], report["duplicated"], report["in_order"]) == (True, [], [], True)
    assert len(report["messages"]) == 12
    assert report["took_s"] > 0
    assert list(tmp_path.iterdir()) == []


def test_the_demo_shows_bars_on_a_terminal_and_keeps_its_directory_when_asked(tmp_path: Path) -> None:
    code, screen = Honchod(tmp_path / "unused.sock", {"TMPDIR": str(tmp_path)}).on_terminal("demo", "--keep")
    assert code == 0
    assert "in Honcho" in screen
    assert "━" in screen
    (kept,) = tmp_path.iterdir()
    assert (kept / "run.log").stat().st_size > 0


def test_an_interrupted_demo_ends_its_processes(tmp_path: Path) -> None:
    honchod = Honchod(tmp_path / "unused.sock", {"TMPDIR": str(tmp_path)})
    demo = honchod.start("demo", stdout=subprocess.PIPE, start_new_session=True)
    assert demo.stdout is not None
    for line in demo.stdout:
        if b"daemon listens" in line:
            break
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=60)
    assert demo.returncode == 130
    assert list(tmp_path.iterdir()) == []
    assert _members(demo.pid) == []


def _members(group: int) -> list[int]:
    """The processes of a process group."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getpgid(int(entry.name)) == group:
                    members.append(int(entry.name))
            except ProcessLookupError:
                continue
    return members


def test_the_sandbox_prints_its_url_answers_and_stops_in_order(tmp_path: Path) -> None:
    sandbox = Honchod(tmp_path / "unused.sock").start(
        "sandbox", "--port", "0", "--faults", "*: status=503 times=1", stdout=subprocess.PIPE
    )
    assert sandbox.stdout is not None
    url = sandbox.stdout.readline().decode().strip()
    with urllib.request.urlopen(f"{url}/sandbox/faults", timeout=60) as answer:
        assert json.loads(answer.read())[0]["rule"]["status"] == 503
    sandbox.send_signal(signal.SIGTERM)
    sandbox.stdout.close()
    assert sandbox.wait(60) == 0


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    honchod = Honchod(tmp_path / "unused.sock")
    first = honchod.start("sandbox", stdout=subprocess.PIPE)
    assert first.stdout is not None
    port = first.stdout.readline().decode().strip().rpartition(":")[2]
    second = honchod.run("sandbox", "--port", port)
    first.send_signal(signal.SIGTERM)
    first.stdout.close()
    assert first.wait(60) == 0
    assert second.returncode == 1
    assert second.stderr.count("\n") == 1

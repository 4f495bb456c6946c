"""The wheel: built, installed into a clean environment outside the checkout, and run there."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from honchod.client import Client
from support.waiting import wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", out, ROOT], check=True, capture_output=True
    )
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_carries_migrations_patterns_and_types(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    carried = {f"honchod/migrations/{path.name}" for path in (ROOT / "migrations").glob("*.py")}
    carried |= {
        f"honchod/migrations/versions/{path.name}" for path in (ROOT / "migrations/versions").glob("*.py")
    }
    carried |= {
        f"honchod/capture/patterns/{path.name}"
        for path in ROOT.glob("daemon/honchod/capture/patterns/*.toml")
    }
    assert carried | {"honchod/py.typed"} <= names
    manual = {name.partition(".data/data/share/man/")[2] for name in names if "/share/man/" in name}
    assert manual == {"man1/honchod.1", "man5/honchod.toml.5"}
    assert not [name for name in names if name.startswith("tests/")]


@pytest.mark.timeout(240)
def test_the_installed_wheel_runs_the_daemon_elsewhere(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "env"
    venv.create(environment, with_pip=True)
    # What the wheel needs, at the versions that are tested here: pip resolves them from its own metadata.
    subprocess.run(
        [environment / "bin" / "python", "-m", "pip", "install", "--quiet", wheel],
        check=True,
        capture_output=True,
    )
    home = tmp_path / "home"
    home.mkdir()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "HONCHOD_SOCKET": str(home / "s.sock"),
        "HONCHOD_STATE_DIR": str(home / "state"),
    }
    daemon = subprocess.Popen(
        [environment / "bin" / "honchod", "run"], cwd=home, env=environ, stderr=subprocess.PIPE
    )
    try:
        with Client(home / "s.sock") as client:
            wait_until(lambda: client.ready()["ready"], "the installed daemon to serve", timeout_s=60)
            client.pause()
            sent = subprocess.run(
                [environment / "bin" / "honchod", "send", "--session", "s", "--role", "assistant", "hello"],
                cwd=home,
                env=environ,
                check=False,
                capture_output=True,
                text=True,
            )
            assert sent.returncode == 0, sent.stderr
            assert client.status()["queue"]["pending"] == 1
        daemon.terminate()
        assert daemon.wait(30) == 0
    finally:
        if daemon.poll() is None:
            daemon.kill()
            daemon.wait(10)
        if daemon.stderr is not None:
            daemon.stderr.close()

"""The runtimes as their registries give them, at pinned versions, each in a place of its own.

``build/runtimes/<name>`` is a virtual environment or an npm prefix. It is used again while what was asked for
is what is there; else it is made anew. One installation runs at a time, in whatever process.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "build" / "runtimes"
TIMEOUT_S = 600
"""How long one installation may take."""


def python_runtime(name: str, requirements: Sequence[str]) -> Path:
    """A virtual environment with these requirements and this checkout's honchod: its directory.

    Skips the test where the registry does not give a package.
    """

    def fill(place: Path) -> None:
        _run([sys.executable, "-m", "venv", str(place)], name)
        pip = [
            str(place / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        _run([*pip, *requirements], name)
        # Only honchod.client is imported in there, which needs nothing but the standard library.
        _run([*pip, "--no-deps", "--editable", str(ROOT)], name)

    return _installed(name, ["python", sys.version, *requirements], fill)


def node_runtime(name: str, packages: Sequence[str]) -> Path:
    """An npm prefix with these packages (``node@24.21.0``, ``openclaw@2026.1.1``): its directory.

    They are installed one after the other, and a Node.js among them serves those that come after it. Commands
    are in ``node_modules/.bin``. Skips the test without npm, or where the registry does not give a
    package.
    """
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"{name}: there is no npm on this machine")

    def fill(place: Path) -> None:
        place.mkdir(parents=True)
        (place / "package.json").write_text('{"private": true}')
        quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--logs-max=0"]
        programs = f"{place / 'node_modules' / '.bin'}:{os.environ['PATH']}"
        for package in packages:
            install = [npm, "install", "--prefix", str(place), *quiet, "--save-exact", package]
            _run(install, name, {**os.environ, "PATH": programs})

    return _installed(name, ["node", *packages], fill)


def _installed(name: str, wanted: list[str], fill: Callable[[Path], None]) -> Path:
    """The place, filled with what is wanted. The mark is written last: a half-filled place has none."""
    place = PLACE / name
    mark = place / "installed.json"
    wanted = [*wanted, str(ROOT)]
    with _alone():
        if mark.is_file() and json.loads(mark.read_text()) == wanted:
            return place
        shutil.rmtree(place, ignore_errors=True)
        fill(place)
        mark.write_text(json.dumps(wanted))
    return place


@contextmanager
def _alone() -> Iterator[None]:
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: list[str], name: str, environ: Mapping[str, str] = os.environ) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
            env=environ,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"{name}: not installed within {TIMEOUT_S} s")
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        pytest.skip(f"{name} cannot be installed: {said[-1] if said else f'exit code {done.returncode}'}")

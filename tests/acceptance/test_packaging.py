"""Ways to install it: as a tool, from the source distribution, in a container."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "deploy" / "Containerfile"
TOOLS = {
    "uv": ("uv", "tool", "install", "--python", sys.executable),
    "pipx": ("pipx", "install", "--python", sys.executable),
}


def build(source: Path, out: Path, *what: str) -> Path:
    """What ``python -m build`` makes of a directory."""
    subprocess.run(
        [sys.executable, "-m", "build", *what, "--outdir", out, source], check=True, capture_output=True
    )
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout."""
    return build(ROOT, tmp_path_factory.mktemp("dist"), "--wheel")


def copied() -> list[tuple[str, str]]:
    """What the first stage of the Containerfile copies, each with where to."""
    _, first, _ = CONTAINERFILE.read_text().split("\nFROM ")
    lines = [line.split()[1:] for line in first.splitlines() if line.startswith("COPY ")]
    return [(source, target) for *sources, target in lines for source in sources]


@pytest.mark.timeout(240)
def test_the_container_is_built_from_what_it_copies(tmp_path: Path) -> None:
    """The build stage, without a container: nothing else of the checkout is there."""
    source = tmp_path / "src"
    source.mkdir()
    for name, target in copied():
        here = source / (Path(name).name if target == "./" else target)
        here.parent.mkdir(parents=True, exist_ok=True)
        found = ROOT / name
        if found.is_dir():
            shutil.copytree(found, here, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(found, here)
    assert build(source, tmp_path / "out", "--wheel").name.startswith("honchod-")


def test_the_container_runs_as_nobody_special_and_keeps_its_state_in_a_volume() -> None:
    text = CONTAINERFILE.read_text()
    user = re.search(r"^USER (\d+):(\d+)$", text, re.MULTILINE)
    assert user is not None
    assert int(user[1]) > 0
    assert text.index("USER") < text.index("ENTRYPOINT")
    volumes = re.search(r"^VOLUME (.+)$", text, re.MULTILINE)
    assert volumes is not None
    for place in re.findall(r"HONCHOD_\w+=(\S+?)(?:/honchod\.sock)?(?: \\)?$", text, re.MULTILINE):
        assert f'"{place}"' in volumes[1]


@pytest.mark.timeout(240)
def test_the_source_distribution_holds_what_a_packager_needs(tmp_path: Path) -> None:
    with tarfile.open(build(ROOT, tmp_path, "--sdist")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for path in (
        "deploy/systemd/honchod.service",
        "deploy/systemd/honchod.socket",
        "deploy/systemd/honchod.sysusers",
        "deploy/systemd/honchod.tmpfiles",
        "deploy/man/honchod.1",
        "deploy/monitoring/honchod.rules.yml",
        "deploy/RUNBOOK.md",
        "migrations/versions",
        "tests/acceptance/test_packaging.py",
        "LICENSE",
    ):
        assert any(name == path or name.startswith(f"{path}/") for name in names), path
    assert not [name for name in names if "__pycache__" in name or name.endswith((".sqlite3", ".sock"))]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("tool", TOOLS)
def test_it_is_installed_as_a_tool(tool: str, wheel: Path, tmp_path: Path) -> None:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is absent")
    environ = {
        **os.environ,
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_HOME": str(tmp_path / "tools"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_MAN_DIR": str(tmp_path / "man"),
    }
    subprocess.run([*TOOLS[tool], wheel], check=True, capture_output=True, env=environ)
    shown = subprocess.run(
        [tmp_path / "bin" / "honchod", "--version"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert shown.stdout.startswith("honchod, version ")
    if tool == "pipx":
        assert (tmp_path / "man" / "man1" / "honchod.1").is_file()

"""The documents: every command in them works, every file they name exists."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(document: str, language: str) -> list[str]:
    """The code blocks of a document in one language."""
    found = BLOCK.findall((ROOT / document).read_text("utf-8"))
    return [text for kind, text in found if kind == language]


@pytest.fixture
def home() -> Iterator[Path]:
    """A short path: a socket goes into it."""
    path = Path(f"/tmp/honchod-docs-{os.getpid()}")
    path.mkdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


def environ(home: Path) -> dict[str, str]:
    return {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "HONCHOD_SOCKET": str(home / "s.sock"),
        "HONCHOD_STATE_DIR": str(home / "state"),
    }


@pytest.mark.timeout(120)
def test_the_readme_s_commands_work_in_their_order(home: Path) -> None:
    """All of them but make, in one shell; a command that fails ends it."""
    lines = "\n".join(blocks("README.md", "sh")).splitlines()
    script = "\n".join(line for line in lines if not line.startswith("make "))
    (snippet,) = blocks("README.md", "python")
    script += f"\n{sys.executable} - <<'EOF'\n{snippet}EOF\n"
    log = home / "log"
    with log.open("w") as out:
        # Daemon and sandbox outlive the shell: the output goes to a file, and only the shell is waited for.
        shell = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=home,
            env=environ(home),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        code = shell.wait(90)
    finally:
        os.killpg(shell.pid, signal.SIGKILL)
    text = log.read_text()
    assert code == 0, text
    assert "<memory-context>" in text


def test_what_make_is_asked_for_can_be_made() -> None:
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in ("README.md", "ARCHITECTURE.md", "deploy/README.md"):
        asked = re.findall(r"\bmake ([a-z-]+)\b(?=[`\s])", "\n".join(blocks(document, "sh")))
        assert set(asked) <= made, document


def test_no_folder_of_tests_is_left_out_when_they_are_made() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (whole,) = re.findall(r"^WHOLE := (.+)$", makefile, re.MULTILINE)
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in ROOT.glob("tests/**/test_*.py")}
    apart = {"unit", "runtimes"}
    assert {f"tests/{one}" for one in folders - apart} == set(whole.split())
    for one in apart:
        assert re.search(rf"^\t\$\(BIN\)/pytest tests/{one}\b", makefile, re.MULTILINE), one


def test_every_honchod_command_in_the_documents_exists() -> None:
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "README.md", *ROOT.glob("deploy/*.md")))
    asked = {
        " ".join(found)
        for found in re.findall(
            r"(?:`|^\$ |^# |^)honchod ([a-z-]+)(?: (list|show|retry|discard|export|clear|seed)\b)?",
            text,
            re.MULTILINE,
        )
    }
    for command in asked:
        shown = subprocess.run(
            [BIN / "honchod", *command.split(), "--help"], check=False, capture_output=True, text=True
        )
        assert shown.returncode == 0, f"honchod {command}: {shown.stderr}"


def test_every_file_that_a_document_links_to_exists() -> None:
    for document in (*ROOT.glob("*.md"), *ROOT.glob("deploy/*.md"), *ROOT.glob("tests/*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_the_map_of_the_house_names_files_that_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    named = re.findall(r"`((?:\w+/)+\w+\.py)`", text)
    assert named
    for name in named:
        assert (ROOT / "daemon/honchod" / name).exists() or (ROOT / name).exists(), name


def test_every_test_that_is_said_to_hold_a_promise_exists() -> None:
    """The last column of each table of faults names files, tests in them, and words of theirs."""
    named = 0
    for row in re.findall(r"^\| .+ \| .+ \| (.*`.*) \|$", promises(), re.MULTILINE):
        place = ROOT
        for name in re.findall(r"`([^`]+)`", row):
            named += 1
            file, _, test = name.partition("::")
            if "/" in file:
                place = ROOT / "tests" / file
                assert place.exists(), name
            texts = [path.read_text("utf-8") for path in (place, *place.glob("*.py")) if path.is_file()]
            if test:
                tests = re.findall(r"^def (test_\w+)", "\n".join(texts), re.MULTILINE)
                assert fnmatch.filter(tests, test), name
            elif "/" not in name:
                assert any(name in text for text in texts), name
    assert named > 40


def promises() -> str:
    """What tests/README.md says of each fault."""
    return (ROOT / "tests/README.md").read_text("utf-8").partition("\n## ")[2]

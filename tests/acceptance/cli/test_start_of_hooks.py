"""What a shell hook waits for besides the daemon is the start of a program, and most of that is imports.

What is imported is listed here, so that nothing comes in unseen: argparse and typing together would take
longer than all that is ours.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from command import clean_environ

from support.daemon import DaemonProcess

NEEDED = "import __future__, json, socket"
"""What the standard library has to give, with all that it brings along."""

CLIENT = {
    "honchod",
    "honchod.client",
    *(f"honchod.client.{name}" for name in ("address", "blocking", "calls", "connection", "errors", "ids")),
    *(
        f"honchod.client.{name}"
        for name in ("operations", "persistence", "pool", "records", "results", "wire")
    ),
}
COMMAND = {"honchod.cli", *(f"honchod.cli.{name}" for name in ("arguments", "exits", "main", "printable"))}
BOX = {"honchod.client.drop", "honchod.client.box"}

INSTALLED = "import sys; from honchod.cli.main import main; sys.exit(main())"
"""What the installed program does."""


def imported_by(program: str, *arguments: str, environ: dict[str, str] | None = None) -> set[str]:
    """The modules that a program imports, which has to end well."""
    # -S -E: without what a development environment imports at start.
    begun = f"import sys; sys.path[:] = {sys.path!r}; {program}"
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-X", "importtime", "-c", begun, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**clean_environ(), **(environ or {})},
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split("|") for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line[2].strip() for line in lines}


@pytest.fixture(scope="module")
def needed() -> set[str]:
    return imported_by(NEEDED)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--role", "assistant", "--turn-end", "I moved to Lisbon."],
        ["--json", "--metadata", '{"mood": "calm"}', "--wait", "1", "Graça"],
        ["--id=m1", "--no-drop", "--quiet", "-"],
    ],
)
def test_send_imports_what_it_needs_and_nothing_else(
    daemon: DaemonProcess, needed: set[str], arguments: list[str]
) -> None:
    where = {"HONCHOD_SOCKET": str(daemon.socket), "HONCHOD_DROP": str(daemon.directory / "box")}
    loaded = imported_by(INSTALLED, "send", "--session", "s", *arguments, environ=where)
    assert loaded - needed <= CLIENT | COMMAND | BOX | {"honchod.cli.send"}
    assert "honchod.client.blocking" in loaded


def test_an_empty_drop_box_costs_no_import(daemon: DaemonProcess, needed: set[str]) -> None:
    box = daemon.directory / "empty"
    box.mkdir(mode=0o700)
    where = {"HONCHOD_SOCKET": str(daemon.socket), "HONCHOD_DROP": str(box)}
    loaded = imported_by(INSTALLED, "send", "--session", "s", "hello", environ=where)
    assert loaded - needed <= CLIENT | COMMAND | BOX | {"honchod.cli.send"}


@pytest.mark.parametrize("arguments", [["where do I live?"], ["--json", "--tokens", "100", "--peek"]])
def test_recall_imports_what_it_needs_and_nothing_else(
    daemon: DaemonProcess, needed: set[str], arguments: list[str]
) -> None:
    where = {"HONCHOD_SOCKET": str(daemon.socket)}
    loaded = imported_by(INSTALLED, "recall", "--session", "s", *arguments, environ=where)
    assert loaded - needed <= CLIENT | COMMAND | {"honchod.cli.recall"}


def test_a_hook_in_python_imports_only_the_client(needed: set[str]) -> None:
    assert imported_by("import honchod.client") - needed <= CLIENT

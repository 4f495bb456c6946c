"""Completion, in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, Honchod

BASH = """
eval "$(honchod completion bash)"
complete_line() {
    COMPREPLY=()
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _honchod_completion honchod
    echo "${COMPREPLY[*]}"
}
complete_line honchod sta
complete_line honchod letters re
complete_line honchod send --ses
complete_line honchod send --role ""
complete_line honchod run --log-format j
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH on which honchod is this program."""
    script = tmp_path / "honchod"
    script.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
    script.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def test_bash_completes_commands_options_and_choices(path: str) -> None:
    found = subprocess.run(
        ["bash", "-c", BASH], capture_output=True, text=True, check=True, env={**os.environ, "PATH": path}
    )
    assert found.stdout.splitlines() == ["status", "retry", "--session", "user assistant", "json"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_their_scripts(path: str, shell: str, tmp_path: Path) -> None:
    script = Honchod(tmp_path / "unused.sock").run("completion", shell).stdout
    assert "_HONCHOD_COMPLETE" in script
    if not shutil.which(shell):
        pytest.skip(f"{shell} is absent")
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_completing_names_imports_no_command(path: str) -> None:
    """It runs at every TAB."""
    program = (
        "import sys; from honchod.cli import main; sys.argv = ['honchod']\n"
        "try: main.main()\n"
        "finally: print(sorted(name for name in sys.modules if name.startswith('honchod.')), file=sys.stderr)"
    )
    asked = {"_HONCHOD_COMPLETE": "bash_complete", "COMP_WORDS": "honchod stat", "COMP_CWORD": "1"}
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **asked},
    )
    assert found.stdout.split() == ["plain,status"]
    assert "honchod.cli.status" not in found.stderr

"""Leaving at once, without what the interpreter does at its end."""

from __future__ import annotations

import subprocess
import sys

PROLOGUE = """
import atexit, sys
from honchod.cli.exits import leave
atexit.register(sys.stderr.write, 'taken down')
"""


def left(program: str) -> subprocess.CompletedProcess[str]:
    """A program that leaves; its output goes into a pipe, and so is buffered."""
    return subprocess.run(
        [sys.executable, "-c", PROLOGUE + program], check=False, capture_output=True, text=True, timeout=60
    )


def test_leaving_keeps_the_exit_code_and_all_that_was_printed() -> None:
    done = left("print('x' * 100_000)\nsys.stderr.write('half a line')\nleave(3)")
    assert (done.returncode, done.stdout, done.stderr) == (3, "x" * 100_000 + "\n", "half a line")


def test_where_output_is_lost_the_interpreter_ends_as_ever_and_says_so() -> None:
    done = left("sys.stdout = open('/dev/full', 'w')\nprint('x')\nleave(0)\nsys.exit(0)")
    assert "No space left on device" in done.stderr
    assert "taken down" in done.stderr


def test_a_stream_that_was_never_open_is_no_crash() -> None:
    done = left("sys.stderr = None\nprint('x')\nleave(0)\nsys.exit(0)")
    assert (done.returncode, done.stdout) == (0, "x\n")

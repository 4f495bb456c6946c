"""An interrupt ends a command that looks again and again, whenever it comes."""

from __future__ import annotations

import subprocess
import sys

BEGIN = "import os, signal\nfrom honchod.cli import interrupts\n"
IN_A_FINALIZER = """
class Thing:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
interrupts.remember()
thing = Thing()
del thing
print("dropped", flush=True)
try:
    interrupts.pause(60)
except KeyboardInterrupt:
    print("ended")
"""
IGNORED = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
interrupts.remember()
os.kill(os.getpid(), signal.SIGINT)
interrupts.pause(0)
print("went on")
"""


def output(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def test_an_interrupt_that_a_finalizer_drops_ends_the_next_pause() -> None:
    assert output(IN_A_FINALIZER) == "dropped\nended\n"


def test_an_interrupt_that_is_ignored_stays_so() -> None:
    """As in a job that a shell put into the background."""
    assert output(IGNORED) == "went on\n"

"""What a shell hook waits for."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.rig import Rig, daemon
from bench.rows import Result, at_most, compared
from bench.spread import Pair
from bench.texts import TEXTS


def measure(rig: Rig) -> Iterator[Result]:
    """The installed command, in turn with an interpreter that does nothing."""
    program = str(Path(sys.executable).with_name("honchod"))
    with daemon(paused=True) as ours:
        send = [program, "--socket", str(ours.socket), "send", "--session", "shell", TEXTS[0]]
        nothing = [sys.executable, "-c", "pass"]
        for command in (send, nothing):
            _run_ms(command)
        pairs = [Pair(_run_ms(send), _run_ms(nothing)) for _ in range(rig.plan.commands)]
    yield compared("honchod send, from a shell", "python -c pass", "ms", pairs, at_most(3.0))


def _run_ms(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - started) * 1000

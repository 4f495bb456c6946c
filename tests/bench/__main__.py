"""``python -m bench``: measure, print the table, write JSON, a plot and the table for a document."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from bench import machine, plan, report
from bench.load import generator
from bench.measures import MEASURES
from bench.plot import plot
from bench.processes import load_average
from bench.report import Report
from bench.rig import Rig
from bench.rows import Result, Skipped

IN_MEMORY = frozenset({"tmpfs", "ramfs"})


def main(arguments: list[str]) -> int:
    """Run. Exit code 0: everything was measured, whatever came of it; 1: something failed."""
    given = _options(arguments)
    # An installed program has its bytecode.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    chosen = plan.QUICK if given.quick else plan.FULL
    given.out.mkdir(parents=True, exist_ok=True)
    said = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=given.dir) as scratch:
        # The daemons and the yardsticks of a run write to one disk.
        tempfile.tempdir = scratch
        if machine.filesystem(Path(scratch)) in IN_MEMORY:
            said.print(f"{given.dir} is in memory, where a sync costs nothing: choose another with --dir")
            return 1
        began_at, started = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
        found = machine.look(Path(scratch))
        with generator() as load:
            results = _measured(Rig(chosen, Path(scratch), load), given.only or list(MEASURES), said)
    done = Report(began_at, time.monotonic() - started, chosen, found, load_average(), results)
    report.save(done, given.out / "bench.json")
    (given.out / "bench.svg").write_text(plot(results))
    (given.out / "bench.md").write_text(report.markdown(done))
    Console(width=None if sys.stdout.isatty() else 160).print(report.table(done))
    said.print(
        f"{done.seconds:.0f} s; load {found.load_before:.1f} before, {done.load_after:.1f} after; "
        f"{given.out}/bench.json, bench.svg, bench.md"
    )
    return int(any(isinstance(one, Skipped) and one.failed for one in results))


def _measured(rig: Rig, names: list[str], said: Console) -> list[Result]:
    results: list[Result] = []
    for name in names:
        with said.status(f"measuring {name}"):
            try:
                results += MEASURES[name](rig)
            except Exception as error:
                # The other rows took long enough: they are not lost with this one.
                said.print_exception()
                results.append(Skipped(name, "", f"failed: {type(error).__name__}", failed=True))
    return results


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="How fast the daemon is, beside yardsticks.")
    parser.add_argument("--quick", action="store_true", help="under two minutes; rougher")
    parser.add_argument("--only", action="append", choices=list(MEASURES), help="these measures alone")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="where JSON and plot go")
    parser.add_argument(
        "--dir", type=Path, default=Path("/var/tmp"), help="on which disk to measure (%(default)s)"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

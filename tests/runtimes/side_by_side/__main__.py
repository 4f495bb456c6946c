"""``python -m runtimes.side_by_side``: measure both, print the table, write it and its JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from _pytest.outcomes import Skipped

from runtimes.install import ROOT
from runtimes.side_by_side.scenarios import FULL, QUICK, outcome
from runtimes.side_by_side.table import markdown, save
from runtimes.side_by_side.trial import Provider


def main(arguments: list[str]) -> int:
    """Run. Exit code 0: both were measured; 1: Hermes cannot be installed."""
    parser = argparse.ArgumentParser(prog="side_by_side", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few turns of everything, in a few minutes")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "side_by_side", metavar="DIR")
    given = parser.parse_args(arguments)
    plan = QUICK if given.quick else FULL
    try:
        own, ours = outcome(Provider.OWN, plan), outcome(Provider.OURS, plan)
    except Skipped as reason:
        print(reason, file=sys.stderr)
        return 1
    save(own, ours, given.out)
    print(markdown(own, ours), end="")
    return 0


sys.exit(main(sys.argv[1:]))

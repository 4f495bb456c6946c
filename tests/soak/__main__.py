"""``python -m soak``: run, show how far it is, print a report."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from dataclasses import asdict, fields

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from soak import rig
from soak.plan import Options

SEED_BITS = 32


def options(arguments: list[str]) -> Options:
    """The options of a command line; without ``--seed``, one is drawn."""
    defaults = {field.name: field.default for field in fields(Options)}
    parser = argparse.ArgumentParser(
        prog="soak", description="Kill the daemon again and again, and look what became of its messages."
    )
    parser.add_argument("--seed", type=int, default=secrets.randbits(SEED_BITS), help="decides everything")
    parser.add_argument("--minutes", type=float, default=defaults["minutes"], help="at most (%(default)s)")
    parser.add_argument("--messages", type=int, default=defaults["messages"], help="to write (%(default)s)")
    parser.add_argument("--kills", type=int, default=defaults["kills"], help="SIGKILLs (%(default)s)")
    return Options(**vars(parser.parse_args(arguments)))


def main(arguments: list[str]) -> int:
    """Run. Exit code 0: every promise was kept; 1: not, or the time was over before the goal."""
    chosen = options(arguments)
    console = Console(stderr=True)
    console.print(f"soak: seed {chosen.seed}, {chosen.messages} messages, {chosen.kills} kills")
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as bars:
        acked = bars.add_task("acknowledged", total=chosen.messages)
        killed = bars.add_task("killed", total=chosen.kills)

        def tell(progress: rig.Progress) -> None:
            bars.update(acked, completed=progress.acked)
            bars.update(killed, completed=progress.kills)
            if progress.note:
                bars.console.print(progress.note)

        report = rig.run(chosen, tell)
    print(json.dumps({"passed": report.passed, **asdict(report)}, indent=1))
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

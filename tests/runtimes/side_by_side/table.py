"""The comparison as a table and as JSON."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

from runtimes.hermes.running import REQUIREMENTS
from runtimes.side_by_side.scenarios import KILLS, Outcome, Waits
from runtimes.side_by_side.trial import Fate

HEAD = ("", "Hermes's own provider", "honchod")


def markdown(own: Outcome, ours: Outcome) -> str:
    """The table."""
    both = (own, ours)
    rows = [
        HEAD,
        ("---", "---", "---"),
        ("a turn waits for memory, Honcho answers after 500 ms", *(_waits(one.waits_slow) for one in both)),
        ("the same, Honcho away", *(_waits(one.waits_away) for one in both)),
        (f"lost after SIGKILL behind the last answer ({KILLS} times)", *(_lost(one.killed) for one in both)),
        (
            f"lost after SIGKILL in an outage of Honcho ({KILLS} times)",
            *(_lost(one.killed_away) for one in both),
        ),
        ("lost when Honcho answers 503 for the whole run", *(_lost(one.refused) for one in both)),
        ("stored twice, 5 % of answers cut after the commit", *(_twice(one.cut) for one in both)),
        ("lost meanwhile", *(_lost(one.cut) for one in both)),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def document(own: Outcome, ours: Outcome) -> str:
    """The same as JSON, with what was compared and where."""
    machine = {"system": platform.platform(), "cores": os.cpu_count(), "load": os.getloadavg()}
    compared = {"hermes": REQUIREMENTS, "machine": machine, "own": asdict(own), "ours": asdict(ours)}
    return json.dumps(compared, indent=2) + "\n"


def save(own: Outcome, ours: Outcome, directory: Path) -> None:
    """Write both into the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "side_by_side.md").write_text(markdown(own, ours))
    (directory / "side_by_side.json").write_text(document(own, ours))


def _waits(waits: Waits) -> str:
    return f"{_ms(waits.median_ms)} (worst {_ms(waits.worst_ms)})"


def _ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"


def _lost(fate: Fate) -> str:
    return f"{fate.lost} of {fate.said}"


def _twice(fate: Fate) -> str:
    return f"{fate.duplicates} of {fate.said}"

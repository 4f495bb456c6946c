"""The systemd unit, where one is installed: whether it and the settings agree."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from honchod.ops.doctor.finding import Finding, ok, skipped, warning, wrong

CHECK = "unit"
_SECONDS = re.compile(r"(?:(\d+)min)?\s*(?:(\d+)s?)?")
_KEY = re.compile(r"HONCHO_API_KEY=\S")


def unit(path: Path, *, stop_timeout_s: float) -> Iterator[Finding]:
    """The unit file at this path with its drop-ins, if it is there."""
    try:
        lines = _lines(path)
    except FileNotFoundError:
        return
    except OSError:
        yield skipped(CHECK, f"{path} may not be read")
        return
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    faults = [
        *_program(path, values),
        *_stop(path, values, stop_timeout_s),
        *_watched(path, values),
        *_key(path, lines),
    ]
    yield from faults or [ok(CHECK, f"{path} agrees with the settings")]


def _lines(path: Path) -> list[str]:
    """The lines of the unit and of its drop-ins; of a key that is set twice the last one counts."""
    files = [path, *sorted(path.with_name(f"{path.name}.d").glob("*.conf"))]
    return [line.strip() for file in files for line in file.read_text("utf-8", "replace").splitlines()]


def _program(path: Path, values: dict[str, str]) -> Iterator[Finding]:
    words = values.get("ExecStart", "").split()
    program = words[0].replace("%h", str(Path.home())) if words else ""
    if not program:
        yield wrong(CHECK, f"{path} starts nothing", "install the unit of deploy/systemd again")
    elif not os.access(program, os.X_OK):
        yield wrong(
            CHECK,
            f"{path} starts {program}, which is not there or cannot be run",
            "install it there, or edit the unit",
        )


def _stop(path: Path, values: dict[str, str], stop_timeout_s: float) -> Iterator[Finding]:
    given = _SECONDS.fullmatch(values.get("TimeoutStopSec", "90s").strip())
    if given is None or not any(given.groups()):
        return
    limit_s = int(given[1] or 0) * 60 + int(given[2] or 0)
    if limit_s <= stop_timeout_s:
        needed_s = int(stop_timeout_s) + 10
        yield wrong(
            CHECK,
            f"{path} kills the daemon {limit_s} s after a stop; stop_timeout_s is {stop_timeout_s:g} s",
            "give it more time than the daemon takes",
            _drop_in(path, "stop", f"[Service]\\nTimeoutStopSec={needed_s}s\\n"),
        )


def _watched(path: Path, values: dict[str, str]) -> Iterator[Finding]:
    if values.get("Type") not in ("notify", "notify-reload"):
        yield warning(
            CHECK,
            f"{path} is not of Type=notify: who waits for its start does not wait until it serves",
            "let systemd wait for it",
            _drop_in(path, "notify", "[Service]\\nType=notify\\n"),
        )
    elif "WatchdogSec" not in values:
        yield warning(
            CHECK,
            f"{path} has no WatchdogSec: a daemon that is stuck is not started again",
            "let systemd watch it",
            _drop_in(path, "watchdog", "[Service]\\nWatchdogSec=60s\\n"),
        )


def _key(path: Path, lines: list[str]) -> Iterator[Finding]:
    if any(line.startswith("Environment=") and _KEY.search(line) for line in lines):
        yield wrong(
            CHECK,
            f"{path} holds the API key in Environment=: everybody can read it with systemctl show",
            "make a new key, and put it into a credential (deploy/systemd/honchod.service.d/key.conf)",
        )


def _drop_in(path: Path, name: str, text: str) -> tuple[str, ...]:
    directory = path.with_name(f"{path.name}.d")
    target = shlex.quote(str(directory / f"{name}.conf"))
    return ("sh", "-c", f"mkdir -p {shlex.quote(str(directory))} && printf '{text}' > {target}")

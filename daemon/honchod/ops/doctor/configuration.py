"""The faults of the settings file, each with the line that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from honchod.ops.doctor.finding import Command, Finding, wrong

CHECK = "settings"
_SYNTAX = re.compile(r"\(at line (\d+), column \d+\)")
_KEY = re.compile(r"(?:(?P<section>[a-z_]+)\.)?(?P<key>[A-Za-z0-9_-]+)(?:\[\d+\])?(?: =|:)")


def settings_faults(path: Path | None, problems: Iterable[str]) -> Iterator[Finding]:
    """A finding for each problem of the settings. What is in the file can be commented out: then its default
    holds.
    """
    text = _text(path)
    for problem in problems:
        of_file = path is not None and problem.startswith(f"{path}: ")
        line = _line_of(problem.removeprefix(f"{path}: "), text) if of_file else None
        if line is None:
            yield wrong(CHECK, problem, "correct it; man 5 honchod.toml says what each key takes")
        else:
            yield wrong(
                CHECK,
                f"{problem} (line {line})",
                "correct it (man 5 honchod.toml), or comment it out: then the default holds",
                _comment_out(path, line),
            )


def _comment_out(path: Path | None, line: int) -> Command:
    return ("sed", "-i", f"{line}s/^/# /", str(path))


def _line_of(problem: str, text: str) -> int | None:
    """The number of the line that a problem is about, if it can be told."""
    if (syntax := _SYNTAX.search(problem)) is not None:
        return int(syntax[1])
    named = _KEY.match(problem)
    if named is None:
        return None
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("["):
            section = stripped.strip("[] ")
        elif section == (named["section"] or "") and re.match(
            rf"\"?{re.escape(named['key'])}\"?\s*=", stripped
        ):
            return number
    return None


def _text(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""

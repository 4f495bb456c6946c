"""What the doctor says of one thing."""

from __future__ import annotations

from enum import StrEnum

import msgspec

Command = tuple[str, ...]
"""A program and its arguments."""


class Grade(StrEnum):
    """How it is."""

    OK = "ok"
    SKIPPED = "skipped"
    """It could not be looked at, or there is nothing to look at."""
    WARNING = "warning"
    """It works, and should not stay so."""
    WRONG = "wrong"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at. ``advice`` says in words how to mend it; ``mend`` are the commands that
    do, where commands can.
    """

    check: str
    grade: Grade
    found: str
    advice: str = ""
    mend: tuple[Command, ...] = ()


def ok(check: str, found: str) -> Finding:
    """All is well."""
    return Finding(check, Grade.OK, found)


def skipped(check: str, found: str) -> Finding:
    """Nothing to look at, or no way to."""
    return Finding(check, Grade.SKIPPED, found)


def warning(check: str, found: str, advice: str, *mend: Command) -> Finding:
    """It works, and should not stay so."""
    return Finding(check, Grade.WARNING, found, advice, mend)


def wrong(check: str, found: str, advice: str, *mend: Command) -> Finding:
    """It has to be mended."""
    return Finding(check, Grade.WRONG, found, advice, mend)

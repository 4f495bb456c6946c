"""The files in which agents keep what they know: found by name, read whatever is in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import click

from honchod.capture.host_patterns import runtime_of

MAX_BYTES: Final = 4 * 1024 * 1024


class Use(StrEnum):
    """What a file becomes; the value is the last segment of its call's path."""

    FILE = "file"
    """A file of the user's peer."""
    SEED = "seed"
    """Something that the AI peer says of itself."""


KNOWN: Final[Mapping[str, Use]] = {
    "USER.md": Use.FILE,
    "MEMORY.md": Use.FILE,
    "SOUL.md": Use.SEED,
    "IDENTITY.md": Use.SEED,
    "AGENTS.md": Use.SEED,
    "TOOLS.md": Use.SEED,
    "BOOTSTRAP.md": Use.SEED,
}
SUBDIRECTORIES: Final = ("", "memories", "memory")


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One file and what becomes of it."""

    path: Path
    use: Use


def find(directory: Path) -> list[MemoryFile]:
    """The memory files of an agent's directory, in the order in which they are taken in."""
    return [
        MemoryFile(path, use)
        for name, use in KNOWN.items()
        for below in SUBDIRECTORIES
        if (path := directory / below / name).is_file()
    ]


def usual_directories(host: str, environ: Mapping[str, str]) -> Iterator[Path]:
    """Where the agent of that host keeps its files, as far as that is known."""
    home = Path(environ.get("HOME") or "/")
    match runtime_of(host):
        case "hermes":
            yield Path(environ.get("HERMES_HOME") or home / ".hermes")
        case "openclaw":
            yield Path(environ.get("OPENCLAW_WORKSPACE") or home / ".openclaw" / "workspace")
        case "nanobot":
            yield home / ".nanobot" / "workspace"


def read_file(path: Path) -> str:
    """The text of a file; what is not UTF-8 in it becomes U+FFFD. A usage error when it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise click.UsageError(f"{path}: over {MAX_BYTES} bytes")
    return data.decode("utf-8-sig", "replace")

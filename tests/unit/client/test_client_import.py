"""Importing the client is cheap: a shell hook pays for it at every prompt."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "asyncio",
    "dataclasses",
    "email",
    "http",
    "inspect",
    "logging",
    "pathlib",
    "ssl",
    "threading",
    "urllib",
    "uuid",
)


def modules_after(statement: str) -> set[str]:
    program = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    # -S -E: without what a development environment imports at start.
    command = [sys.executable, "-S", "-E", "-c", f"import sys; sys.path[:] = {sys.path!r}; {program}"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def test_importing_the_client_brings_nothing_heavy() -> None:
    loaded = {name.partition(".")[0] for name in modules_after("import honchod.client")}
    assert loaded.isdisjoint(HEAVY)


def test_importing_the_client_brings_only_the_standard_library_and_itself() -> None:
    loaded = {name.partition(".")[0] for name in modules_after("import honchod.client")}
    assert loaded - set(sys.stdlib_module_names) == {"honchod"}


def test_the_client_of_the_package_needs_no_other_room() -> None:
    ours = {name for name in modules_after("import honchod.client.aio") if name.startswith("honchod.")}
    assert all(name.split(".")[1] == "client" for name in ours)


def test_the_asyncio_client_comes_when_it_is_asked_for() -> None:
    assert "asyncio" in modules_after("from honchod.client import AsyncClient")

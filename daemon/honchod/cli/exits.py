"""How a command ends: its exit code and the line that says why. Standard library only."""

from __future__ import annotations

import os
import sys
from enum import IntEnum

from honchod.cli.printable import printable
from honchod.client.errors import ClientError, NotAllowed, NotKept, NotReachable, Rejected


class Exit(IntEnum):
    """The exit codes, the same for every command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    """Wrong usage or configuration."""
    NOT_REACHABLE = 3
    """No daemon answers."""
    NOT_ALLOWED = 4
    INTERRUPTED = 130
    """As a shell reports SIGINT."""


def complain(error: ClientError) -> Exit:
    """Write ``honchod: CODE: detail`` to stderr and return the exit code."""
    detail = error.detail if isinstance(error, Rejected) else str(error)
    sys.stderr.write(f"honchod: {error.code}: {printable(detail)}\n")
    if isinstance(error, (NotReachable, NotKept)):
        return Exit.NOT_REACHABLE
    return Exit.NOT_ALLOWED if isinstance(error, NotAllowed) else Exit.FAILED


def leave(code: int) -> None:
    """End the process with this exit code, without taking the interpreter down.

    That would take a shell hook longer than the daemon's answer. Only for a command that leaves nothing to do
    at exit: no thread, no temporary file. Returns where there is something to tell at exit: that stdout
    cannot be written.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        return
    os._exit(code)


def stop_writing() -> Exit:
    """The reader of stdout has gone: nothing more can be said there, also not at interpreter exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.FAILED

"""The console script.

``send`` and ``recall`` are called by shell hooks at every prompt, so they are dispatched here, on
standard-library modules alone, and leave without delay; click is imported for everything else.
"""

from __future__ import annotations

import sys

from honchod.cli.exits import Exit, complain, leave, stop_writing
from honchod.client.errors import ClientError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> int:
    """Run the command line of this process; the return value, where it returns, is its exit code."""
    arguments = sys.argv[1:]
    code = dispatch(arguments)
    _, rest = _leading_socket(arguments)
    if rest[:1] in (["send"], ["recall"]):
        leave(code)
    return code


def dispatch(arguments: Sequence[str]) -> int:
    """Run one command line, turning the client's errors into lines on stderr and exit codes."""
    socket, rest = _leading_socket(arguments)
    try:
        if rest[:1] == ["send"]:
            from honchod.cli import send

            return send.run(rest[1:], socket)
        if rest[:1] == ["recall"]:
            from honchod.cli import recall

            return recall.run(rest[1:], socket)
        from honchod.cli import app

        return app.run(arguments)
    except ClientError as error:
        return complain(error)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return stop_writing()


def _leading_socket(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """Take the global ``--socket PATH`` off the front."""
    rest = list(arguments)
    socket = None
    while rest:
        name, equals, value = rest[0].partition("=")
        if name != "--socket" or (not equals and len(rest) < 2):
            break
        socket = value if equals else rest[1]
        del rest[: 1 if equals else 2]
    return socket, rest

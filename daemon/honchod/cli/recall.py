"""``honchod recall``: the read path by hand, for shell hooks. Standard library only: it must start fast."""

from __future__ import annotations

import json
import sys

from honchod.cli import arguments
from honchod.cli.arguments import HOST, JSON, SOCKET, Arguments, Option
from honchod.cli.exits import Exit
from honchod.client.blocking import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from honchod.client.results import Recalled

EPILOG = """\
examples:
  honchod recall --session chat-7
  honchod recall --session chat-7 --tokens 500 "where do I live?"
  honchod recall --session chat-7 --wait-ms 800 --json - < question.txt

Prints the block that is ready for the prompt; nothing when there is nothing to say. What it is worth (fresh,
stale, cold, empty, unavailable or off) is in --json. It does not wait for the network unless told to.
"""

SECTIONS = ("summary", "user_representation", "user_card", "ai_representation", "ai_card", "dialectic")
WAIT_MS_MAX = 60_000


def _sections(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise arguments.unfit(f"no such section: {unknown[0]!r}")
    return names


def _wait_ms(text: str) -> int:
    wait_ms = int(text)
    if not 0 <= wait_ms <= WAIT_MS_MAX:
        raise arguments.unfit(f"from 0 to {WAIT_MS_MAX} milliseconds")
    return wait_ms


TAKEN = Arguments(
    program="honchod recall",
    description="Print what memory has for the prompt.",
    epilog=EPILOG,
    operand="query",
    operand_help="what was just asked; -: read from stdin",
    options=(
        Option("--session", "the session", metavar="S", required=True),
        HOST,
        Option("--scope", "the scope (default: as the host has it)", metavar="S"),
        Option("--tokens", "the budget of the block (default: the host's)", metavar="N", read=int),
        Option("--sections", f"only these, of {', '.join(SECTIONS)}", metavar="A,B", read=_sections),
        Option("--wait-ms", "how long to wait for a fresh answer", metavar="MS", read=_wait_ms),
        Option("--peek", "leave a prefetched dialectic answer for the next recall"),
        JSON,
        SOCKET,
    ),
)


class Given:
    """What was given on the command line, over what stands where nothing was."""

    session: str
    query: str | None = None
    host: str | None = None
    scope: str | None = None
    tokens: int | None = None
    sections: list[str] | None = None
    wait_ms: int = 0
    peek: bool = False
    json: bool = False
    socket: str | None = None


def run(words: Sequence[str], socket: str | None) -> int:
    """Recall what the ``words`` ask for and print it; raises the client's errors."""
    given = arguments.parse(TAKEN, words, Given())
    query = _stdin() if given.query == "-" else given.query
    with Client(given.socket or socket) as client:
        recalled = client.recall(
            query,
            session=given.session,
            host=given.host,
            scope=given.scope,
            tokens=given.tokens,
            recall_wait_ms=given.wait_ms,
            sections=given.sections,
            peek=given.peek,
        )
    if given.json:
        print(json.dumps(_answer(recalled)))
    elif recalled.text:
        print(recalled.text)
    sys.stdout.flush()
    return Exit.DONE


def make_parser() -> argparse.ArgumentParser:
    """What the command takes."""
    return arguments.make_parser(TAKEN)


def _stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace").removesuffix("\n")


def _answer(recalled: Recalled) -> dict[str, Any]:
    return {**recalled._asdict(), "truncated": list(recalled.truncated)}

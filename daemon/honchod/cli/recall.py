"""``honchod recall``: the read path by hand, for shell hooks. Standard library only: it must start fast."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from honchod.cli.exits import Exit
from honchod.client.blocking import Client

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def run(arguments: Sequence[str], socket: str | None) -> int:
    """Recall what ``arguments`` ask for and print it; raises the client's errors."""
    given = make_parser().parse_args(arguments)
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
    parser = argparse.ArgumentParser(
        prog="honchod recall",
        description="Print what memory has for the prompt.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("query", nargs="?", help="what was just asked; -: read from stdin")
    add("--session", required=True, metavar="S", help="the session")
    add("--host", metavar="H", help="the host block of the Honcho configuration (default: default)")
    add("--scope", metavar="S", help="the scope (default: as the host has it)")
    add("--tokens", type=int, metavar="N", help="the budget of the block (default: the host's)")
    add("--sections", type=_sections, metavar="A,B", help=f"only these, of {', '.join(SECTIONS)}")
    add("--wait-ms", type=_wait_ms, default=0, metavar="MS", help="how long to wait for a fresh answer")
    add("--peek", action="store_true", help="leave a prefetched dialectic answer for the next recall")
    add("--json", action="store_true", help="print the daemon's answer as JSON")
    add("--socket", metavar="PATH", help="the daemon's socket")
    return parser


def _sections(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such section: {unknown[0]!r}")
    return names


def _wait_ms(text: str) -> int:
    wait_ms = int(text)
    if not 0 <= wait_ms <= WAIT_MS_MAX:
        raise argparse.ArgumentTypeError(f"from 0 to {WAIT_MS_MAX} milliseconds")
    return wait_ms


def _stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace").removesuffix("\n")


def _answer(recalled: Recalled) -> dict[str, Any]:
    return {**recalled._asdict(), "truncated": list(recalled.truncated)}

"""``honchod send``: the write path by hand, for shell hooks. Standard library only: it must start fast."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from honchod.cli.exits import Exit
from honchod.cli.printable import printable
from honchod.client.blocking import Client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honchod.client.results import Written

EPILOG = """\
examples:
  honchod send --session chat-7 "I moved to Lisbon."
  echo "Noted." | honchod send --session chat-7 --role assistant --turn-end
  honchod send --session chat-7 --ndjson < messages.ndjson

With --ndjson, stdin holds one message a line, as in the API ({"content": …, "role": …, "id": …});
all go in one request, all or nothing. Prints one line a message: its id and what became of it.

Where no daemon answers it is kept in the drop box ($HONCHOD_DROP, else honchod/drop under $XDG_STATE_HOME)
and taken in later, in order; its status is then "dropped".
"""

KEPT = "honchod: no daemon took it: it is kept in the drop box, and goes on once a daemon answers\n"

MESSAGE_FIELDS = ("role", "id", "author", "peer", "created_at", "metadata")


def run(arguments: Sequence[str], socket: str | None) -> int:
    """Send what ``arguments`` say and print what became of it; raises the client's errors."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    messages = _messages(given, parser)
    with Client(given.socket or socket, wait_s=given.wait, drop=not given.no_drop) as client:
        written = client.write(
            messages,
            session=given.session,
            host=given.host,
            turn_end=given.turn_end,
            group=given.group,
        )
    if written.dropped:
        sys.stderr.write(KEPT)
    if given.json:
        print(json.dumps(_answer(written)))
    elif not given.quiet:
        for message in written.results:
            print(printable(message.id), message.status, *filter(None, [message.reason]), sep="\t")
    sys.stdout.flush()
    return Exit.DONE


def make_parser() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(
        prog="honchod send",
        description="Hand over what was said. Returns once it is on disk.",
        epilog=EPILOG,
        # With a width of its own it need not import shutil to ask for the terminal's.
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=100),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("text", nargs="?", help="the message; absent or -: read from stdin")
    add("--session", required=True, metavar="S", help="the session that it belongs to")
    add("--role", choices=("user", "assistant"), help="who speaks (default: user)")
    add("--host", metavar="H", help="the host block of the Honcho configuration (default: default)")
    add("--id", metavar="ID", help="a stable id of your own: the same again is stored once")
    add("--author", metavar="A", help="human, assistant, subagent, cron, automation, skill, tool or import")
    add("--peer", metavar="P", help="the speaking peer by name")
    add("--created-at", metavar="T", help="when it was said (RFC 3339; default: now)")
    add("--metadata", metavar="JSON", help="a JSON object")
    add("--turn-end", action="store_true", help="the turn is over: prepare memory for the next")
    add("--group", action="store_true", help="several people speak here: who is not named is not the owner")
    add("--ndjson", action="store_true", help="read messages as JSON lines from stdin")
    add(
        "--wait",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="how long to try again while the daemon is away or full",
    )
    add("--no-drop", action="store_true", help="fail where no daemon answers, instead of keeping it")
    add("--json", action="store_true", help="print the daemon's answer as JSON")
    add("--quiet", action="store_true", help="print nothing when it went well")
    add("--socket", metavar="PATH", help="the daemon's socket")
    return parser


def _messages(given: argparse.Namespace, parser: argparse.ArgumentParser) -> list[dict[str, Any]]:
    fields = {name: getattr(given, name) for name in MESSAGE_FIELDS if getattr(given, name) is not None}
    if given.ndjson:
        if fields or given.text is not None:
            parser.error("with --ndjson the text and its fields come from stdin")
        return [_object(line, f"line {number}", parser) for number, line in _numbered_lines()]
    if given.metadata is not None:
        fields["metadata"] = _object(given.metadata, "--metadata", parser)
    text = given.text
    if text is None or text == "-":
        text = _stdin().removesuffix("\n")
    return [{"content": text, **fields}]


def _numbered_lines() -> list[tuple[int, str]]:
    lines = enumerate(_stdin().split("\n"), start=1)
    return [(number, line) for number, line in lines if line.strip()]


def _stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _object(text: str, where: str, parser: argparse.ArgumentParser) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        parser.error(f"{where}: not JSON ({error})")
    if not isinstance(value, dict):
        parser.error(f"{where}: not a JSON object")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError("from 0 to 86400 seconds")
    return seconds


def _answer(written: Written) -> dict[str, Any]:
    results = [
        {name: value for name, value in message._asdict().items() if value is not None}
        for message in written.results
    ]
    return {"session": written.session, "results": results}

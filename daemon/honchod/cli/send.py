"""``honchod send``: the write path by hand, for shell hooks. Standard library only: it must start fast."""

from __future__ import annotations

import json
import sys

from honchod.cli import arguments
from honchod.cli.arguments import HOST, JSON, SOCKET, Arguments, Option
from honchod.cli.exits import Exit
from honchod.cli.printable import printable
from honchod.client.blocking import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any, NoReturn

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


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= 86_400:
        raise arguments.unfit("from 0 to 86400 seconds")
    return seconds


TAKEN = Arguments(
    program="honchod send",
    description="Hand over what was said. Returns once it is on disk.",
    epilog=EPILOG,
    operand="text",
    operand_help="the message; absent or -: read from stdin",
    options=(
        Option("--session", "the session that it belongs to", metavar="S", required=True),
        Option("--role", "who speaks (default: user)", choices=("user", "assistant")),
        HOST,
        Option("--id", "a stable id of your own: the same again is stored once", metavar="ID"),
        Option(
            "--author", "human, assistant, subagent, cron, automation, skill, tool or import", metavar="A"
        ),
        Option("--peer", "the speaking peer by name", metavar="P"),
        Option("--created-at", "when it was said (RFC 3339; default: now)", metavar="T"),
        Option("--metadata", "a JSON object", metavar="JSON"),
        Option("--turn-end", "the turn is over: prepare memory for the next"),
        Option("--group", "several people speak here: who is not named is not the owner"),
        Option("--ndjson", "read messages as JSON lines from stdin"),
        Option(
            "--wait",
            "how long to try again while the daemon is away or full",
            metavar="SECONDS",
            read=_seconds,
        ),
        Option("--no-drop", "fail where no daemon answers, instead of keeping it"),
        JSON,
        Option("--quiet", "print nothing when it went well"),
        SOCKET,
    ),
    # With a width of its own argparse need not import shutil to ask for the terminal's.
    width=100,
)


class Given:
    """What was given on the command line, over what stands where nothing was."""

    session: str
    text: str | None = None
    role: str | None = None
    host: str | None = None
    id: str | None = None
    author: str | None = None
    peer: str | None = None
    created_at: str | None = None
    metadata: str | None = None
    turn_end: bool = False
    group: bool = False
    ndjson: bool = False
    wait: float = 0.0
    no_drop: bool = False
    json: bool = False
    quiet: bool = False
    socket: str | None = None


def run(words: Sequence[str], socket: str | None) -> int:
    """Send what the ``words`` say and print what became of it; raises the client's errors."""
    given = arguments.parse(TAKEN, words, Given())
    messages = _messages(given)
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
    return arguments.make_parser(TAKEN)


def _messages(given: Given) -> list[dict[str, Any]]:
    fields = {name: getattr(given, name) for name in MESSAGE_FIELDS if getattr(given, name) is not None}
    if given.ndjson:
        if fields or given.text is not None:
            _refuse("with --ndjson the text and its fields come from stdin")
        return [_object(line, f"line {number}") for number, line in _numbered_lines()]
    if given.metadata is not None:
        fields["metadata"] = _object(given.metadata, "--metadata")
    text = given.text
    if text is None or text == "-":
        text = _stdin().removesuffix("\n")
    return [{"content": text, **fields}]


def _numbered_lines() -> list[tuple[int, str]]:
    lines = enumerate(_stdin().split("\n"), start=1)
    return [(number, line) for number, line in lines if line.strip()]


def _stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        _refuse(f"{where}: not JSON ({error})")
    if not isinstance(value, dict):
        _refuse(f"{where}: not a JSON object")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _refuse(message: str) -> NoReturn:
    make_parser().error(message)


def _answer(written: Written) -> dict[str, Any]:
    results = [
        {name: value for name, value in message._asdict().items() if value is not None}
        for message in written.results
    ]
    return {"session": written.session, "results": results}

"""The play: a conversation through the socket; the daemon is killed within a request and started again."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from honchod.cli.demo.conversation import AI_PEER, CONVERSATION, USER_PEER, Line
from honchod.cli.demo.processes import DaemonProcess, DemoFailed, SandboxProcess, wait_for
from honchod.cli.demo.verdict import Verdict, judge
from honchod.client import Client

WORKSPACE = "demo"
SESSION = "lisbon"
QUESTION = "Where does Mira live?"

BEFORE = 5
"""Messages delivered before anything goes wrong; the next one is stored and its answer never comes."""
WHILE_HANGING = 2
"""Messages acknowledged while that request hangs."""

RESTART_WAIT_S = 60.0
DELIVERY_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Noted:
    """Something worth a line has happened."""

    text: str


@dataclass(frozen=True, slots=True)
class Acked:
    """A message is on disk; its 202 came after ``ms``."""

    line: Line
    ms: float


@dataclass(frozen=True, slots=True)
class Delivered:
    """So many messages have reached Honcho by now."""

    count: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The play is over; ``message_requests`` reached the sandbox, the whole took ``took_s``.

    ``memory`` is the block that a prompt would get now, and ``recalled_ms`` how long it took to come.
    """

    verdict: Verdict
    memory: str
    recalled_ms: float
    message_requests: int
    took_s: float


Event = Noted | Acked | Delivered | Ended


def play(directory: Path) -> Generator[Event]:
    """Play it in ``directory``; every process it started has ended when the iterator is closed.

    Raises DemoFailed, and the client's errors, when something does not come about.
    """
    started_s = time.monotonic()
    socket = directory / "honchod.sock"
    with ExitStack() as stack:
        sandbox = SandboxProcess(directory)
        stack.callback(sandbox.stop)
        sandbox.wait_ready()
        yield Noted(f"a sandbox Honcho listens on {sandbox.url}")
        config = _configure(directory, socket, sandbox.url)
        client = stack.enter_context(Client(socket))
        daemon = DaemonProcess(directory, config)
        stack.callback(daemon.stop)
        daemon.wait_ready(client)
        yield Noted(f"the daemon listens on {socket}")

        yield from _write(client, CONVERSATION[:BEFORE])
        yield from _await_delivery(sandbox, BEFORE)

        sandbox.add_fault("POST messages: hang-after-commit times=1")
        yield from _write(client, CONVERSATION[BEFORE : BEFORE + 1])
        yield from _await_delivery(sandbox, BEFORE + 1)
        yield Noted("Honcho has stored that one, but its answer does not come")
        spoken = BEFORE + 1 + WHILE_HANGING
        yield from _write(client, CONVERSATION[BEFORE + 1 : spoken])

        daemon.kill()
        yield Noted("the plug is pulled: SIGKILL in the middle of the request")
        revived = DaemonProcess(directory, config)
        stack.callback(revived.stop)
        revived.wait_ready(client)
        yield Noted("the daemon is back; it looks up what became of that request before it sends anything")

        yield from _write(client, CONVERSATION[spoken:])
        yield from _await_delivery(sandbox, len(CONVERSATION))
        if not client.drain(DELIVERY_TIMEOUT_S)["drained"]:
            raise DemoFailed("the queue did not become empty")
        stored = sandbox.stored(WORKSPACE, SESSION)
        wait_for("memory of what was said last", partial(_remembers_all, client), DELIVERY_TIMEOUT_S)
        asked_s = time.perf_counter()
        memory = _memory(client)
        recalled_ms = (time.perf_counter() - asked_s) * 1000
        took_s = time.monotonic() - started_s
        yield Ended(judge(CONVERSATION, stored), memory, recalled_ms, sandbox.message_requests(), took_s)


def _configure(directory: Path, socket: Path, url: str) -> Path:
    """Write both configurations; short waits, because here nothing is far away."""
    honcho = directory / "honcho.json"
    honcho.write_text(
        json.dumps({"baseUrl": url, "workspace": WORKSPACE, "peerName": USER_PEER, "aiPeer": AI_PEER})
    )
    config = directory / "honchod.toml"
    config.write_text(
        f"""\
state_dir = {json.dumps(str(directory / "state"))}
socket = {json.dumps(str(socket))}
honcho_config = {json.dumps(str(honcho))}

[delivery]
settle_delay_s = 0.5
backoff_base_s = 0.1
"""
    )
    return config


def _write(client: Client, lines: Sequence[Line]) -> Iterator[Event]:
    for line in lines:
        asked_s = time.perf_counter()
        client.write(
            [{"id": line.id, "role": line.role, "content": line.text}],
            session=SESSION,
            turn_end=line.role == "assistant",
            wait_s=RESTART_WAIT_S,
        )
        yield Acked(line, (time.perf_counter() - asked_s) * 1000)


def _await_delivery(sandbox: SandboxProcess, count: int) -> Iterator[Event]:
    seen = 0
    while seen < count:
        more = partial(_stored_beyond, sandbox, seen)
        seen = wait_for(f"{count} messages in Honcho", more, DELIVERY_TIMEOUT_S)
        yield Delivered(seen)


def _memory(client: Client) -> str:
    return client.recall(QUESTION, session=SESSION).text


def _remembers_all(client: Client) -> bool:
    """Whether memory has caught up: the daemon follows what Honcho derives from a delivery."""
    last = next(line for line in reversed(CONVERSATION) if line.role == "user")
    return last.text in _memory(client)


def _stored_beyond(sandbox: SandboxProcess, seen: int) -> int:
    """How many messages are stored; 0 while they are no more than ``seen``."""
    stored = len(sandbox.stored(WORKSPACE, SESSION))
    return stored if stored > seen else 0

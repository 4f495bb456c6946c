"""One Hermes with one provider, in front of a Honcho of its own, and what arrives there."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from honchod.sandbox.thread import running_sandbox
from runtimes.hermes.running import Hermes
from runtimes.model_server import ModelServer, running_model
from runtimes.oracle import arrived
from support.daemon import DaemonProcess
from support.honcho import Remote
from support.network import Network, running_network
from support.waiting import wait_until

QUIET_S = 8.0
"""When nobody has asked Honcho for anything for so long, whoever had something to send has given up."""

QUIET_TIMEOUT_S = 300.0


class Provider(StrEnum):
    """Whose memory provider Hermes has, by the name in its configuration."""

    OWN = "honcho"
    OURS = "honchod"


@dataclass(frozen=True)
class Fate:
    """What became of the messages of a trial."""

    said: int
    lost: int
    duplicates: int

    def __add__(self, other: Fate) -> Fate:
        return Fate(self.said + other.said, self.lost + other.lost, self.duplicates + other.duplicates)


@dataclass
class Trial:
    """A conversation in progress. Everything is set as each provider's documents say; nothing is tuned."""

    hermes: Hermes
    daemon: DaemonProcess | None
    network: Network
    remote: Remote
    workspace: str
    model: ModelServer
    said: list[str] = field(default_factory=list)
    waited_ms: list[float] = field(default_factory=list)

    def talk(self, turns: int) -> None:
        """So many turns, each in words of its own."""
        for _ in range(turns):
            number = len(self.said) // 2 + 1
            text, reply = f"This is message {number}.", f"That was message {number}."
            self.model.on(text, reply)
            self.said += [text, reply]
            answer = self.hermes.say(text)
            assert answer["answer"] == reply, self.hermes.log()
            self.waited_ms.append(answer["waited_ms"])

    def pull_the_plug(self) -> None:
        """SIGKILL for all that is ours to lose: Hermes, and with our provider the daemon too."""
        self.hermes.kill()
        if self.daemon is not None:
            self.daemon.kill()

    def come_back(self) -> None:
        """Start again what is not running, and say one thing more."""
        if self.daemon is not None:
            self.daemon.start()
        self.hermes.start()
        self.hermes.say("Good morning.")

    def leave(self) -> None:
        """The user leaves, and everything that Hermes still does has its time."""
        self.hermes.leave()
        self.hermes.end()

    def fate(self) -> Fate:
        """What of the conversation is in Honcho once nobody has anything left to send."""
        if self.daemon is None:
            self._wait_for_quiet()
        else:
            self.daemon.wait_for_delivery(QUIET_TIMEOUT_S)
        held = Counter(
            content for spoken in arrived(self.remote, self.workspace).values() for _, content in spoken
        )
        copies = [held[text] for text in self.said]
        return Fate(len(copies), copies.count(0), sum(max(0, count - 1) for count in copies))

    def _wait_for_quiet(self) -> None:
        seen, since_s = -1, 0.0

        def is_quiet() -> bool:
            nonlocal seen, since_s
            now_s = time.monotonic()
            if (count := len(self.network.seen())) != seen:
                seen, since_s = count, now_s
            return now_s - since_s > QUIET_S

        wait_until(is_quiet, "a Honcho that nobody asks anything", timeout_s=QUIET_TIMEOUT_S)


@contextmanager
def running_trial(provider: Provider, faults: str = "") -> Iterator[Trial]:
    """A trial whose network has these faults from the start."""
    with ExitStack() as stack:
        sandbox = stack.enter_context(running_sandbox())
        network = stack.enter_context(running_network(sandbox.url))
        model = stack.enter_context(running_model())
        if faults:
            network.hit(faults)
        workspace = f"honchod-test-{uuid.uuid4().hex[:12]}"
        config = _config(network.url, workspace)
        daemon = None
        environ: dict[str, str] = {}
        if provider is Provider.OURS:
            daemon = DaemonProcess(config)
            stack.callback(daemon.close)
            environ = {
                "HONCHOD_SOCKET": str(daemon.socket),
                "HONCHOD_DROP": str(daemon.directory / "drop"),
            }
            daemon.environ["HONCHOD_DROP"] = environ["HONCHOD_DROP"]
            daemon.start()
        hermes = Hermes(model, provider=provider, environ=environ)
        stack.callback(hermes.close)
        if provider is Provider.OWN:
            (hermes.hermes_home / "honcho.json").write_text(json.dumps(config))
        hermes.start()
        yield Trial(hermes, daemon, network, Remote(sandbox.url), workspace, model)


def _config(url: str, workspace: str) -> dict[str, Any]:
    """The Honcho config, which both providers read."""
    root = {"baseUrl": url, "workspace": workspace, "peerName": "ann"}
    return {**root, "hosts": {"hermes": {"enabled": True, "workspace": workspace, "aiPeer": "hermes"}}}

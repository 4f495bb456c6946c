"""The killer: ends and stops the daemon as planned, and starts it again each time."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator

from honchod.client.errors import ClientError
from soak.plan import Attack, Blow
from support.daemon import DaemonProcess

STOP_TIMEOUT_S = 30.0
BEGIN_TIMEOUT_S = 10.0
"""There may be nothing to deliver, or nobody to deliver to."""
LOOK_S = 0.05


class Killer:
    """Works through the attacks until it has killed often enough, or is told to end."""

    def __init__(self, daemon: DaemonProcess, attacks: Iterator[Attack], *, kills: int) -> None:
        self._daemon = daemon
        self._attacks = attacks
        self._wanted = kills
        self._ended = threading.Event()
        self.blows: Counter[Blow] = Counter()
        self.kills = 0

    def end(self) -> None:
        """Stop after the present attack."""
        self._ended.set()

    def run(self) -> None:
        """Attack, with the daemon running before and after. Fails when it exits in any other way."""
        for attack in self._attacks:
            if self._ended.is_set() or self.kills >= self._wanted:
                return
            self._strike(attack)
            self.blows[attack.blow] += 1
            self.kills += attack.blow.kills

    def _strike(self, attack: Attack) -> None:
        daemon = self._daemon
        if attack.blow is Blow.KILL_STARTING:
            daemon.kill()
            daemon.start(ready=False)
        else:
            self._let_it_begin()
        self._leave_alone(attack.after_s)
        match attack.blow:
            case Blow.KILL | Blow.KILL_STARTING:
                daemon.kill()
                daemon.start()
            case Blow.TERM:
                code = daemon.stop(STOP_TIMEOUT_S)
                assert code == 0, f"the daemon ended with {code} after SIGTERM"
                daemon.start()
            case Blow.STOP:
                daemon.signal(signal.SIGSTOP)
                self._ended.wait(attack.lasts_s)
                daemon.signal(signal.SIGCONT)

    def _let_it_begin(self) -> None:
        """Wait for its first request: on a busy machine it would else be killed before it ever delivers."""
        until_s = time.monotonic() + BEGIN_TIMEOUT_S
        while time.monotonic() < until_s and not self._ended.wait(LOOK_S):
            with contextlib.suppress(ClientError), self._daemon.client(timeout_s=2.0) as client:
                if client.status()["delivery"]["requests"]:
                    return

    def _leave_alone(self, seconds: float) -> None:
        """The daemon must not end by itself meanwhile."""
        process = self._daemon.process
        assert process is not None
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return
        raise AssertionError(f"the daemon ended by itself with {code}: {self._daemon.log()[-3000:]}")

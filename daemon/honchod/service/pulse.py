"""The pulse that systemd's watchdog listens for: sent only while everything makes progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import structlog

from honchod.ops.views import Health
from honchod.service.systemd import Notifier

log = structlog.get_logger("honchod.service")

BEATS_A_TERM: Final = 3
"""One beat may come late and one be lost before systemd loses patience."""
UNWATCHED_S: Final = 30.0
"""How often the status line is renewed where no watchdog waits."""


def watchdog_s(environ: Mapping[str, str], *, pid: int) -> float | None:
    """How long systemd waits for a sign of life of this process; None where it waits for none."""
    term_us = environ.get("WATCHDOG_USEC", "")
    meant = environ.get("WATCHDOG_PID", str(pid)) == str(pid)
    return int(term_us) / 1e6 if meant and term_us.isdecimal() and int(term_us) > 0 else None


def headline(health: Health) -> str:
    """The daemon in one line, for ``systemctl status``."""
    if health.stuck:
        return "stuck: " + ", ".join(health.stuck)
    troubled = [f"{host} {state}" for host, state in sorted(health.destinations.items()) if state != "ok"]
    return "; ".join(["serving", *troubled])


class Pulse:
    """Beats until it is cancelled.

    ``health`` is asked what makes no progress, given the term within which it should have. That the event
    loop does shows in the beat itself.
    """

    def __init__(
        self, notifier: Notifier, health: Callable[[float | None], Health], *, term_s: float | None
    ) -> None:
        self._notifier = notifier
        self._health = health
        self._term_s = term_s
        self._stuck: list[str] = []
        self._headline = ""

    async def run(self) -> None:
        """Beat."""
        interval_s = UNWATCHED_S if self._term_s is None else self._term_s / BEATS_A_TERM
        while True:
            self.beat()
            await asyncio.sleep(interval_s)

    def beat(self) -> None:
        """Look, and send a sign of life if all is well."""
        health = self._health(self._term_s)
        if self._term_s is not None and not health.stuck:
            self._notifier.alive()
        if health.stuck != self._stuck:
            self._stuck = health.stuck
            if health.stuck:
                log.error("progress.missing", stuck=health.stuck)
            else:
                log.info("progress.resumed")
        if (line := headline(health)) != self._headline:
            self._headline = line
            self._notifier.status(line)

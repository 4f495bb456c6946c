"""``honchod run``: from flags to a running daemon, and to its exit code."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Final

import structlog
import uvloop

import honchod
from honchod.api import sockets
from honchod.clock import SystemClock
from honchod.errors import ConfigError, DatabaseUnusable, OutboxFull, Problem, StartRefused
from honchod.identity import environment
from honchod.service import activation, logs
from honchod.service.daemon import Daemon
from honchod.service.pulse import Pulse, watchdog_s
from honchod.service.settings import Flags
from honchod.service.systemd import Notifier
from honchod.service.wiring import load

log = structlog.get_logger("honchod.service")

DONE: Final = 0
FAILED: Final = 1
WRONG_CONFIG: Final = 2

DAMAGED_AGAIN_S: Final = 600.0
"""A database that is damaged twice within this time is not the cause of it."""


def run(
    config: Path | None = None,
    socket_path: Path | None = None,
    state_dir: Path | None = None,
    log_format: logs.Format | None = None,
    log_level: str | None = None,
) -> int:
    """Run the daemon until it is told to stop. Returns the exit code.

    0: stopped in order. 1: it would not start; one line on stderr says what to do. 2: the configuration is
    wrong; a line for each fault.
    """
    # Where each thread is goes to the log when systemd's watchdog ends a process that is stuck.
    faulthandler.enable()
    environ = environment.take(os.environ)
    flags = Flags(socket=socket_path, state_dir=state_dir)
    try:
        settings, hosts = load(config, environ, flags)
    except ConfigError as error:
        for problem in error.problems:
            print(f"honchod: {problem}", file=sys.stderr)
        return WRONG_CONFIG
    logs.configure(log_level or settings.log.level, log_format or settings.log.format)
    daemon = Daemon(
        settings,
        hosts,
        environ=environ,
        config=config,
        flags=flags,
        clock=SystemClock(),
        random=Random(),  # noqa: S311 (jitter)
    )
    try:
        handed = activation.take(os.environ, pid=os.getpid())
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            _run_and_run_again(runner, daemon, settings.socket, handed, environ)
    except StartRefused as error:
        print(f"honchod: {error}", file=sys.stderr)
        return FAILED
    except OutboxFull:
        print(f"honchod: no room is left on the disk of {settings.state_dir}: make room", file=sys.stderr)
        return FAILED
    except OSError as error:
        print(f"honchod: cannot start: {error}", file=sys.stderr)
        return FAILED
    return DONE


def _run_and_run_again(
    runner: asyncio.Runner,
    daemon: Daemon,
    path: Path,
    handed: socket.socket | None,
    environ: Mapping[str, str],
) -> None:
    """Serve until a signal says stop; anew each time that the database turns out to be damaged."""
    clock = SystemClock()
    damaged = False
    opened_s = clock.monotonic_s()
    while runner.run(_serve(daemon, path, handed, environ, damaged=damaged)):
        if damaged and clock.monotonic_s() - opened_s < DAMAGED_AGAIN_S:
            raise DatabaseUnusable(
                "the database is damaged again right after it was replaced: "
                "see to the disk and the memory of this machine, then start again"
            )
        daemon, damaged, opened_s = daemon.anew(), True, clock.monotonic_s()


async def _serve(
    daemon: Daemon,
    path: Path,
    handed: socket.socket | None,
    environ: Mapping[str, str],
    *,
    damaged: bool,
) -> bool:
    """Serve at ``path``, or in the socket that was handed in. Returns whether to begin anew: true when the
    database turned out to be damaged, false when a signal said stop.
    """
    notifier = Notifier(environ)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    listener = sockets.bind(path) if handed is None else sockets.adopt(handed.dup())
    try:
        await daemon.open(damaged=damaged)
    except BaseException:
        listener.remove()
        listener.sock.close()
        raise
    await daemon.serve(listener)
    reloads: set[asyncio.Task[None]] = set()

    def reload() -> None:
        task = asyncio.create_task(_reload(daemon, notifier))
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    loop.add_signal_handler(signal.SIGHUP, reload)
    notifier.ready()
    pulse = asyncio.create_task(
        Pulse(notifier, daemon.health, term_s=watchdog_s(environ, pid=os.getpid())).run()
    )
    log.info("daemon.ready", version=honchod.__version__, pid=os.getpid(), socket=str(listener.path))
    await _first(stop, daemon.damaged)
    pulse.cancel()
    log.info("daemon.stopping")
    notifier.stopping()
    await daemon.stop()
    log.info("daemon.stopped")
    return not stop.is_set()


async def _first(*events: asyncio.Event) -> None:
    """Return when one of them is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()


async def _reload(daemon: Daemon, notifier: Notifier) -> None:
    notifier.reloading()
    try:
        await daemon.reload()
    except ConfigError as error:
        log.error("config.refused", problems=list(error.problems))
    except Problem as error:
        log.error("config.refused", problems=[error.code])
    finally:
        notifier.ready()

"""``honchod run``: from flags to a running daemon, and to its exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from random import Random
from typing import Final

import structlog
import uvloop

import honchod
from honchod.api import sockets
from honchod.clock import SystemClock
from honchod.errors import ConfigError, Problem, StartRefused
from honchod.identity import environment
from honchod.service import logs
from honchod.service.daemon import Daemon
from honchod.service.settings import Flags
from honchod.service.systemd import Notifier
from honchod.service.wiring import load

log = structlog.get_logger("honchod.service")

DONE: Final = 0
FAILED: Final = 1
WRONG_CONFIG: Final = 2


def run(
    config: Path | None = None,
    socket: Path | None = None,
    state_dir: Path | None = None,
    log_format: logs.Format | None = None,
    log_level: str | None = None,
) -> int:
    """Run the daemon until it is told to stop. Returns the exit code.

    0: stopped in order. 1: it would not start; one line on stderr says what to do. 2: the configuration is
    wrong; a line for each fault.
    """
    environ = environment.take(os.environ)
    flags = Flags(socket=socket, state_dir=state_dir)
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
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(daemon, settings.socket, Notifier(environ)))
    except StartRefused as error:
        print(f"honchod: {error}", file=sys.stderr)
        return FAILED
    except OSError as error:
        print(f"honchod: cannot start: {error}", file=sys.stderr)
        return FAILED
    return DONE


async def _serve(daemon: Daemon, socket: Path, notifier: Notifier) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    listener = sockets.bind(socket)
    try:
        await daemon.open()
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
    log.info("daemon.ready", version=honchod.__version__, pid=os.getpid(), socket=str(socket))
    await stop.wait()
    log.info("daemon.stopping")
    notifier.stopping()
    await daemon.stop()
    log.info("daemon.stopped")


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

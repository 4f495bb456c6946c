"""The sandbox as a process of its own."""

from __future__ import annotations

import asyncio
import signal
import sys

from .server import Sandbox


def run(
    port: int, host: str, faults: str | None, api_key: str | None, state: str | None, latency_s: float
) -> None:
    """Serve until SIGTERM or SIGINT. Prints the base URL on one line once it listens.

    Raises ``SpecError`` for faults that cannot be read, ``OSError`` when the port is taken.
    """
    sandbox = Sandbox(host=host, port=port, api_key=api_key, faults=faults, state=state, latency_s=latency_s)
    asyncio.run(_serve(sandbox))


async def _serve(sandbox: Sandbox) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    await sandbox.start()
    try:
        sys.stdout.write(f"{sandbox.url}\n")
        sys.stdout.flush()
        await stopped.wait()
    finally:
        await sandbox.stop()

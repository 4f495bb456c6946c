"""``POST /v1/checks``: ask what the daemon depends on, each with latency and a code."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from honchod.clock import Clock
from honchod.delivery.outcome import Step, judge
from honchod.delivery.routes import Route
from honchod.errors import CallFailed
from honchod.gateway.pool import GatewayPool
from honchod.gateway.values import Endpoint
from honchod.identity.host import Destination
from honchod.ops.views import Check, Checks

LOW_DISK_BYTES: Final = 256 << 20
CLOCK_DRIFT_S: Final = 5.0
FIRST_CREDIBLE_MS: Final = 1_767_225_600_000
"""2026-01-01: no clock that is right shows an earlier time to this program."""

_ADVICE: Final = {
    "refused": "the key is not accepted: set apiKey, or the key file, then honchod reload",
    "unreachable": "nobody answers at this URL: is the server up, is baseUrl right?",
    "throttled": "the server asks for fewer requests: it is tried again by itself",
    "misdirected": "this is no Honcho v3 API: check baseUrl",
    "unknown": "the server answers, but not as Honcho does",
}


_MCP_ADVICE: Final = {
    "unauthorised": "the key is not accepted there: a key goes only to the URL it was configured with",
    "unreachable": "nobody answers at this URL: is the server up, is mcpUrl right?",
    "not_mcp": "what answers is no MCP server: check mcpUrl",
}


async def run(
    routes: Iterable[Route], pool: GatewayPool, state_dir: Path, clock: Clock, *, drift_s: float
) -> Checks:
    """Ask every destination and every MCP server, and look at disk and clock."""
    ways = tuple(routes)
    found = await asyncio.gather(
        *(api(route, pool, clock) for route in ways),
        *(mcp(route, target, pool, clock) for route in ways if (target := route.host.mcp) is not None),
    )
    checks = [*found, disk(state_dir), wall_clock(clock, drift_s)]
    return Checks(all(check.ok for check in checks), checks)


async def api(route: Route, pool: GatewayPool, clock: Clock) -> Check:
    """One authenticated call to a host's workspace."""
    gateway = await pool.get(route.destination, route.endpoint(route.host.workspace))
    started = clock.monotonic_s()
    code, detail = "ok", f"{route.url} answers"
    try:
        await gateway.ask()
    except CallFailed as failure:
        verdict = judge(failure, Step.PREPARE, now_ms=clock.now_ms())
        code = verdict.outcome.value
        detail = f"{route.url}: {failure.code}; {_ADVICE.get(code, 'try again later')}"
    latency_ms = round((clock.monotonic_s() - started) * 1000, 1)
    return Check("api", code == "ok", code, latency_ms, detail, host=route.host.name)


def free_bytes(directory: Path) -> int:
    """Room on the disk of a directory, for who is not root."""
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


async def mcp(route: Route, target: Destination, pool: GatewayPool, clock: Clock) -> Check:
    """One MCP ``initialize`` at a host's MCP URL, with the key that belongs to it."""
    await pool.load()
    from honchod.gateway.mcp_probe import Finding, probe

    key = None if target.key is None else target.key.reveal()
    started = clock.monotonic_s()
    probed = await probe(Endpoint(target.url, route.host.workspace, key), timeout_s=pool.timeout_s)
    latency_ms = round((clock.monotonic_s() - started) * 1000, 1)
    is_mcp = probed.finding is Finding.MCP
    code = "ok" if is_mcp else probed.finding.value
    detail = f"{target.url} answers" if is_mcp else f"{target.url}: {probed.code}; {_MCP_ADVICE[code]}"
    return Check("mcp", is_mcp, code, latency_ms, detail, host=route.host.name)


def disk(state_dir: Path) -> Check:
    """Whether there is room where the outbox is."""
    free = free_bytes(state_dir)
    if free < LOW_DISK_BYTES:
        return Check("disk", False, "low", None, f"{free >> 20} MiB are left for the outbox: make room")
    return Check("disk", True, "ok", None, f"{free >> 20} MiB are free")


def wall_clock(clock: Clock, drift_s: float) -> Check:
    """Whether the wall clock is credible, and has not jumped since the start."""
    if clock.now_ms() < FIRST_CREDIBLE_MS:
        return Check("clock", False, "wrong", None, "the clock is years behind: set it (timedatectl)")
    if abs(drift_s) > CLOCK_DRIFT_S:
        return Check("clock", False, "jumped", None, f"the clock jumped by {drift_s:.0f} s since the start")
    return Check("clock", True, "ok", None, "the clock is steady")

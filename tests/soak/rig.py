"""One run: processes and actors put together, and the verdict at its end."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from soak import plan
from soak.killer import Killer
from soak.ledger import Ledger, Told
from soak.oracle import Piece, Verdict, judge
from soak.plan import Options
from soak.server import Server
from soak.sky import Sky
from soak.writer import Pace, write_all
from support.daemon import DaemonProcess

WORKSPACE = "soak"
FRESH_SESSION = "fresh"
LOOK_S = 0.1
SPREAD_S = 3.0
"""Over how long the messages of the time between two kills are spread."""
DRAIN_TIMEOUT_S = 300.0
SETTINGS: dict[str, dict[str, Any]] = {
    "delivery": {
        "request_timeout_s": 1.0,
        "backoff_base_s": 0.05,
        "backoff_cap_s": 0.5,
        # Counted from when a request was sent: past its timeout, the plan's late commits, and a machine
        # that is busy with other things.
        "settle_delay_s": 3.0,
        "stop_timeout_s": 3.0,
        # The server fails at random here: a message must not die of bad luck.
        "max_attempts": 50,
    },
    "outbox": {"max_rows": 1_000_000},
}


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    acked: int
    kills: int
    note: str


@dataclass(frozen=True)
class Report:
    """What a run showed. ``reached``: it came as far as it was asked to within its time."""

    options: Options
    took_s: float
    reached: bool
    verdict: Verdict
    fresh_arrived: bool
    told: dict[str, int]
    pieces: int
    letters: int
    reconciled_batches: int
    blows: dict[str, int]
    weather: dict[str, int]
    hits: dict[str, int]
    server_restarts: int
    ack_p50_ms: float
    ack_p99_ms: float
    kept_directory: str | None

    @property
    def passed(self) -> bool:
        """Whether every promise was kept and the run came to its end."""
        return self.reached and self.verdict.kept and self.fresh_arrived and self.letters == 0


def run(options: Options, tell: Callable[[Progress], None]) -> Report:
    """Run to the end, and judge. Everything that was made is removed, unless a promise was broken."""
    daemon = DaemonProcess({}, settings=SETTINGS)
    server = Server(daemon.directory)
    keep = True
    try:
        server.start()
        daemon.use_hosts({"baseUrl": server.url, "workspace": WORKSPACE, "peerName": "ann", "aiPeer": "bot"})
        report = _run(options, daemon, server, tell)
        keep = not report.passed
        return report
    finally:
        server.kill()
        if daemon.process is not None and daemon.process.poll() is None:
            daemon.kill()
        if not keep:
            shutil.rmtree(daemon.directory, ignore_errors=True)


def _run(options: Options, daemon: DaemonProcess, server: Server, tell: Callable[[Progress], None]) -> Report:
    started_s = time.monotonic()
    ledger, pace = Ledger(), Pace()
    killer = Killer(daemon, plan.attacks(options), kills=options.kills)
    sky = Sky(server, daemon, plan.weather(options))
    daemon.start()
    with ThreadPoolExecutor(options.writers + 2) as pool:
        actors = [pool.submit(killer.run), pool.submit(sky.run)]
        writers = [
            pool.submit(write_all, plan.requests(options, writer), daemon, ledger, pace)
            for writer in range(options.writers)
        ]
        try:
            reached = _play(options, [*actors, *writers], ledger, pace, killer, tell)
        finally:
            killer.end()
            sky.end()
            pace.end()
        wait([*actors, *writers])
        for actor in (*actors, *writers):
            actor.result()
    tell(Progress(ledger.acked, killer.kills, "the sky has cleared: waiting for the queue to empty"))
    fresh_arrived, letters = _drain(daemon, server)
    sessions = [name for writer in range(options.writers) for name in plan.sessions(options, writer)]
    stored = {session: server.pieces(WORKSPACE, session) for session in sessions}
    entries = list(ledger.entries())
    verdict = judge(entries, stored)
    passed = reached and verdict.kept and fresh_arrived and letters == 0
    return Report(
        options=options,
        took_s=round(time.monotonic() - started_s, 1),
        reached=reached,
        verdict=verdict,
        fresh_arrived=fresh_arrived,
        told={told.value: sum(entry.told is told for entry in entries) for told in Told},
        pieces=sum(map(len, stored.values())),
        letters=letters,
        reconciled_batches=sum("reconciled" in line for line in daemon.events("batch.delivered")),
        blows={blow.value: count for blow, count in killer.blows.items()},
        weather=dict(sorted(sky.seen.items())),
        hits=dict(sorted(sky.hits.items())),
        server_restarts=server.restarts,
        ack_p50_ms=ledger.ack_ms(0.5),
        ack_p99_ms=ledger.ack_ms(0.99),
        kept_directory=None if passed else str(daemon.directory),
    )


def _play(
    options: Options,
    actors: list[Future[None]],
    ledger: Ledger,
    pace: Pace,
    killer: Killer,
    tell: Callable[[Progress], None],
) -> bool:
    """Let them act until enough is written and killed (true), or time is over (false)."""
    deadline_s = time.monotonic() + options.minutes * 60
    kills, since_s = 0, time.monotonic()
    while (now_s := time.monotonic()) < deadline_s:
        if killer.kills > kills:
            kills, since_s = killer.kills, now_s
        if ledger.acked >= options.messages and kills >= options.kills:
            return True
        share = (kills + min(1.0, (now_s - since_s) / SPREAD_S)) / (options.kills + 1)
        pace.allow(math.ceil(options.messages * share))
        tell(Progress(ledger.acked, kills, ""))
        ended, _ = wait(actors, LOOK_S, FIRST_EXCEPTION)
        for actor in ended:
            actor.result()
    return False


def _drain(daemon: DaemonProcess, server: Server) -> tuple[bool, int]:
    """Wait until all that waits is delivered; then say something new. Returns whether it arrived, and how
    many dead letters there are.
    """
    with daemon.client() as client:
        client.wake()
        daemon.wait_for_delivery(DRAIN_TIMEOUT_S)
        client.write([{"id": "fresh-1", "content": "still there?"}], session=FRESH_SESSION)
        daemon.wait_for_delivery()
        letters = client.letters()["total"]
    return server.pieces(WORKSPACE, FRESH_SESSION) == [Piece("fresh-1")], letters

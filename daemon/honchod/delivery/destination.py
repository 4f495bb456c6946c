"""One destination while the daemon runs: its circuit, what is in flight, what it last showed of itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from honchod.clock import Clock
from honchod.delivery import circuit as circuits
from honchod.delivery.circuit import Circuit, CircuitState, Reason
from honchod.delivery.deliver import Result
from honchod.delivery.outcome import Outcome, Verdict
from honchod.delivery.retry import Policy, backoff_s, refused_s, throttle_s
from honchod.outbox.circuits import CircuitRow


@dataclass(slots=True)
class Destination:
    """URL and key of one or more hosts. ``waiting_since_s`` (monotonic): asked, and no answer since then."""

    id: str
    url: str
    circuit: Circuit
    hosts: list[str] = field(default_factory=list)
    in_flight: int = 0
    waiting_since_s: float | None = None
    last_error: str | None = None
    last_error_at_ms: int | None = None
    last_delivery_at_ms: int | None = None

    def allows(self, policy: Policy, *, now_ms: int) -> bool:
        """Whether one more lane may be sent."""
        return circuits.allows(
            self.circuit,
            in_flight=self.in_flight,
            now_ms=now_ms,
            longest_wait_ms=policy.longest_wait_ms,
        )

    def started(self, *, now_s: float) -> None:
        """A lane is on its way. When the circuit is open, it is the one that probes."""
        self.in_flight += 1
        if self.circuit.state is CircuitState.OPEN:
            self.circuit = circuits.probing(self.circuit)
        if self.waiting_since_s is None:
            self.waiting_since_s = now_s

    def ended(self) -> None:
        """A lane came back without having asked anything."""
        self.in_flight -= 1
        self.circuit = circuits.unprobed(self.circuit)
        if self.in_flight == 0:
            self.waiting_since_s = None

    def showed(self, result: Result, policy: Policy, *, clock: Clock, random: Random, limit: int) -> None:
        """A lane came back with this: move the circuit, remember what there is to see."""
        self.in_flight -= 1
        verdict = result.verdict
        now_ms = clock.now_ms()
        if result.healthy or (verdict is not None and verdict.answered):
            self.waiting_since_s = clock.monotonic_s() if self.in_flight else None
        if result.delivered:
            self.last_delivery_at_ms = now_ms
        if verdict is None:
            self.circuit = circuits.succeeded(self.circuit, limit=limit)
            return
        self.last_error, self.last_error_at_ms = verdict.code, now_ms
        if result.healthy:
            self.circuit = circuits.answered(self.circuit, limit=limit)
        self.circuit = self._moved(verdict, policy, now_ms, random, limit)

    def stalled(self, *, now_s: float, timeout_s: float) -> bool:
        """Work is under way, and no answer came for twice the request timeout."""
        return self.waiting_since_s is not None and now_s - self.waiting_since_s > 2 * timeout_s

    def row(self) -> CircuitRow:
        """The circuit as it is kept. One that is being probed is kept as open: the probe dies with us."""
        present = circuits.unprobed(self.circuit)
        return CircuitRow(
            self.id,
            present.state.value,
            present.reason.value,
            present.failures,
            present.until_ms,
            present.width,
        )

    def _moved(self, verdict: Verdict, policy: Policy, now_ms: int, random: Random, limit: int) -> Circuit:
        present = self.circuit

        def until(wait_s: float) -> int:
            return now_ms + int(wait_s * 1000)

        match verdict.outcome:
            case Outcome.THROTTLED:
                failures = circuits.failures_for(present, Reason.THROTTLED)
                wait = throttle_s(verdict.retry_after_s, failures, policy, random)
                return circuits.throttled(present, until_ms=until(wait))
            case Outcome.UNREACHABLE:
                failures = circuits.failures_for(present, Reason.UNREACHABLE)
                return circuits.unreachable(present, until_ms=until(backoff_s(failures, policy, random)))
            case Outcome.REFUSED:
                failures = circuits.failures_for(present, Reason.REFUSED)
                return circuits.refused(present, until_ms=until(refused_s(failures)))
        if verdict.answered:
            return circuits.answered(present, limit=limit)
        failures = circuits.failures_for(present, Reason.SILENT)
        return circuits.silent(present, until_ms=until(backoff_s(failures, policy, random)))


def restored(row: CircuitRow, *, limit: int) -> Circuit:
    """A circuit as it was kept."""
    return Circuit(
        width=max(1, min(row.width, limit)),
        state=CircuitState(row.state),
        reason=Reason(row.reason),
        failures=row.failures,
        until_ms=row.until_ms,
    )

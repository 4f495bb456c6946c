"""One delivery: look if the last attempt is in doubt, prepare the session, send, say what came of it.

It touches neither the database nor the circuit: it returns a `Result`, and the worker acts on that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import structlog

from honchod.clock import Clock
from honchod.delivery import bisect
from honchod.delivery.charges import charge
from honchod.delivery.outcome import Outcome, Step, Verdict, judge
from honchod.delivery.reconcile import reconcile
from honchod.delivery.retry import Policy, backoff_s
from honchod.delivery.routes import Route, members, speaking
from honchod.errors import CallFailed
from honchod.gateway.values import OWN_ID, Outgoing, Sight
from honchod.outbox.values import (
    FILE_NAME,
    OBSERVER,
    AttemptMade,
    Bisect,
    Delivered,
    Died,
    Kind,
    Lease,
    LeasedEvent,
    Prepared,
    Settlement,
    Uncertain,
)

if TYPE_CHECKING:
    from honchod.gateway.gateway import Gateway

log = structlog.get_logger("honchod.delivery")

FRESH_LEASE_S = 1.0
"""A lease older than this is renewed before a batch goes out, so that it tells when that was."""


@dataclass(frozen=True, slots=True)
class Result:
    """What to write back, and what the destination showed of itself.

    ``verdict`` is None when all went well. ``healthy`` says that Honcho gave at least one good answer.
    """

    settlement: Settlement
    verdict: Verdict | None
    healthy: bool
    delivered: int
    reconciled: int
    ms: int

    def log_for(self, lease: Lease) -> None:
        """One line about this end of a lease."""
        facts = {
            "lane": lease.lane_id,
            "host": lease.lane.host,
            "events": len(lease.events),
            "delivered": self.delivered,
            "ms": self.ms,
        }
        if self.reconciled:
            facts["reconciled"] = self.reconciled
        if self.verdict is None:
            log.info("batch.delivered", **facts)
        else:
            log.warning("batch.failed", outcome=self.verdict.outcome.value, code=self.verdict.code, **facts)


@dataclass(slots=True)
class _Progress:
    """What a delivery has achieved so far; an early end settles this much."""

    prepared: Prepared | None
    bisect: Bisect | None
    delivered: list[Delivered] = field(default_factory=list)
    died: list[Died] = field(default_factory=list)
    charged: tuple[int, ...] = ()
    attempts: list[AttemptMade] = field(default_factory=list)
    looked: bool = False
    healthy: bool = False
    order_gap: bool = False
    reconciled: int = 0
    sent: tuple[LeasedEvent, ...] = ()
    sent_at_s: float = 0.0


class Delivery:
    """One lease on its way. `run` once; `abandon` instead of a result when it was cut short."""

    def __init__(
        self,
        lease: Lease,
        route: Route,
        gateway: Gateway,
        policy: Policy,
        *,
        clock: Clock,
        random: Random,
        renew: Callable[[], Awaitable[None]],
        look_at_s: float | None = None,
    ) -> None:
        """``look_at_s`` is the monotonic time before which an attempt of this process may still land."""
        self._lease = lease
        self._route = route
        self._gateway = gateway
        self._policy = policy
        self._clock = clock
        self._random = random
        self._renew = renew
        self._look_at_s = look_at_s
        self._started_s = clock.monotonic_s()
        self._progress = _Progress(prepared=lease.prepared, bisect=lease.bisect)

    async def run(self) -> Result:
        """Deliver as far as possible. Raises nothing that Honcho caused."""
        step = Step.LOOK
        try:
            batch: Sequence[LeasedEvent] = self._lease.events
            if self._lease.uncertain:
                batch = await self._look()
            step = Step.PREPARE
            if batch:
                await self._prepare(batch)
                batch = self._charge(batch)
            step = Step.SEND
            if batch:
                await self._send(batch)
        except CallFailed as failure:
            return self._failed(judge(failure, step, now_ms=self._clock.now_ms()))
        return self._result(self._settled(due_in_ms=0), None)

    def abandon(self) -> Settlement:
        """What to write back when the daemon stops in the middle: what is known; the rest is in doubt."""
        progress = self._progress
        if not progress.sent:
            return self._settled(due_in_ms=0, failures=self._lease.failures, outcome=False)
        look_at = self._landed_by_ms()
        return self._settled(
            due_in_ms=max(0, look_at - self._clock.now_ms()),
            failures=self._lease.failures,
            uncertain=self._doubt(look_at, charge=False),
            outcome=False,
        )

    async def _look(self) -> Sequence[LeasedEvent]:
        await self._until_lookable()
        known = reconcile(self._lease.events, await self._find(self._lease.events))
        progress = self._progress
        progress.looked = progress.healthy = True
        progress.delivered.extend(known.there)
        progress.reconciled = len(known.there)
        progress.order_gap = known.order_gap
        return known.missing

    async def _find(self, batch: Sequence[LeasedEvent]) -> Mapping[str, str]:
        """What of the batch Honcho has: our ids to Honcho's."""
        session = self._lease.lane.session
        if batch[0].kind is not Kind.CONCLUSION:
            return await self._gateway.find(session, [event.honchod_id for event in batch])
        (event,) = batch
        remote_id = await self._gateway.conclusions.find(_sight(event), session, event.content)
        return {} if remote_id is None else {event.honchod_id: remote_id}

    async def _until_lookable(self) -> None:
        """The wall clock made the lane due; it may have jumped, the monotonic one has not."""
        if self._look_at_s is not None:
            await asyncio.sleep(max(0.0, self._look_at_s - self._clock.monotonic_s()))

    async def _prepare(self, batch: Sequence[LeasedEvent]) -> None:
        before = self._progress.prepared
        if before is not None and before.destination != self._route.destination:
            before = None
        joined = () if before is None else before.peers
        scope = self._lease.scope
        if (
            before is not None
            and before.scope == scope
            and all(event.peer in joined for event in speaking(batch))
        ):
            return
        self._progress.prepared = None
        wanted = members(self._route.host, batch, joined)
        await self._gateway.prepare(self._lease.lane.session, wanted, scope)
        self._progress.healthy = True
        self._progress.prepared = Prepared(
            self._route.destination, tuple(member.peer for member in wanted), scope
        )

    def _charge(self, batch: Sequence[LeasedEvent]) -> Sequence[LeasedEvent]:
        """An unknown attempt costs one once Honcho is proven healthy: it was looked at and set up again."""
        if not self._lease.charge:
            return batch
        charged = charge(batch, self._progress.bisect, max_attempts=self._policy.max_attempts)
        self._progress.charged = charged.event_ids
        self._progress.died.extend(charged.died)
        self._progress.bisect = charged.bisect
        return charged.send

    async def _send(self, batch: Sequence[LeasedEvent]) -> None:
        if self._clock.monotonic_s() - self._started_s > FRESH_LEASE_S:
            await self._renew()
        progress = self._progress
        progress.sent = tuple(batch)
        progress.sent_at_s = self._clock.monotonic_s()
        remote = await self._hand_over(batch)
        progress.healthy = True
        progress.delivered.extend(
            Delivered(event.id, remote_id) for event, remote_id in zip(batch, remote, strict=True)
        )
        progress.sent = ()
        progress.bisect = bisect.passed(progress.bisect, batch)

    async def _hand_over(self, batch: Sequence[LeasedEvent]) -> Sequence[str]:
        """Store a batch of messages, or the one file or conclusion. Returns Honcho's id of each event."""
        session = self._lease.lane.session
        if batch[0].kind is Kind.CONCLUSION:
            (event,) = batch
            return [await self._gateway.conclusions.conclude(_sight(event), session, event.content)]
        outgoing = [_outgoing(event) for event in batch]
        if batch[0].kind is not Kind.FILE:
            return await self._gateway.send(session, outgoing)
        (file,) = outgoing
        name = str(file.metadata.get(FILE_NAME, Kind.FILE))
        return (await self._gateway.upload(session, file, name))[:1]

    def _failed(self, verdict: Verdict) -> Result:
        match verdict.outcome:
            case Outcome.REJECTED:
                settlement = self._rejected(verdict)
            case Outcome.UNKNOWN:
                settlement = self._unknown(verdict)
            case Outcome.MISDIRECTED:
                settlement = self._backed_off(verdict)
            case _:
                settlement = self._destination_failed(verdict)
        return self._result(settlement, verdict)

    def _rejected(self, verdict: Verdict) -> Settlement:
        """A bad event is in the batch: alone it dies, in company it is searched for."""
        progress = self._progress
        code = f"rejected_{verdict.status}" if verdict.status else "unreadable"
        narrowed = bisect.narrowed(progress.sent)
        progress.bisect = narrowed
        if narrowed is None:
            bad = progress.sent[0]
            progress.died.append(Died(bad.id, code))
            progress.charged = (*progress.charged, bad.id)
            progress.attempts.append(self._attempt((bad,), verdict))
        return self._settled(due_in_ms=0)

    def _unknown(self, verdict: Verdict) -> Settlement:
        """Nobody knows whether the batch is stored: look before it is sent again."""
        failures = self._lease.failures + 1
        backoff_ms = int(backoff_s(failures, self._policy, self._random) * 1000)
        now = self._clock.now_ms()
        uncertain = None
        if verdict.landed:
            look_at = now if verdict.over else self._landed_by_ms()
            uncertain = self._doubt(look_at, charge=True)
            self._progress.attempts.append(self._attempt(self._progress.sent, verdict))
            backoff_ms = max(backoff_ms, look_at - now)
        self._progress.prepared = None
        return self._settled(due_in_ms=backoff_ms, failures=failures, error=verdict.code, uncertain=uncertain)

    def _backed_off(self, verdict: Verdict) -> Settlement:
        failures = self._lease.failures + 1
        self._progress.prepared = None
        return self._settled(
            due_in_ms=int(backoff_s(failures, self._policy, self._random) * 1000),
            failures=failures,
            error=verdict.code,
        )

    def _destination_failed(self, verdict: Verdict) -> Settlement:
        """Not the lane's trouble: it keeps its turn, and the circuit of its destination decides when."""
        uncertain = None
        due_in_ms = 0
        if verdict.landed:
            look_at = self._landed_by_ms()
            uncertain = self._doubt(look_at, charge=False)
            due_in_ms = max(0, look_at - self._clock.now_ms())
        return self._settled(
            due_in_ms=due_in_ms, failures=self._lease.failures, error=verdict.code, uncertain=uncertain
        )

    def _settled(
        self,
        *,
        due_in_ms: int,
        failures: int = 0,
        error: str | None = None,
        uncertain: Uncertain | None = None,
        outcome: bool = True,
    ) -> Settlement:
        progress = self._progress
        return Settlement(
            due_in_ms=due_in_ms,
            delivered=tuple(progress.delivered),
            died=tuple(progress.died),
            attempts=tuple(progress.attempts),
            charged=progress.charged,
            failures=failures,
            error=error,
            prepared=progress.prepared,
            uncertain=uncertain,
            resolved=progress.looked or not self._lease.uncertain,
            bisect=progress.bisect,
            order_gap=progress.order_gap,
            outcome=outcome,
        )

    def _result(self, settlement: Settlement, verdict: Verdict | None) -> Result:
        progress = self._progress
        return Result(
            settlement=settlement,
            verdict=verdict,
            healthy=progress.healthy,
            delivered=len(progress.delivered),
            reconciled=progress.reconciled,
            ms=int((self._clock.monotonic_s() - self._started_s) * 1000),
        )

    def _landed_by_ms(self) -> int:
        """The wall clock's time from which what was sent cannot land any more. How long ago that was is told
        by the clock that does not jump.
        """
        waited_ms = int((self._clock.monotonic_s() - self._progress.sent_at_s) * 1000)
        return self._clock.now_ms() + max(0, self._policy.settle_delay_ms - waited_ms)

    def _doubt(self, look_at_ms: int, *, charge: bool) -> Uncertain:
        sent = self._progress.sent
        return Uncertain(sent[0].id, sent[-1].id, look_at_ms, charge)

    def _attempt(self, batch: Sequence[LeasedEvent], verdict: Verdict) -> AttemptMade:
        return AttemptMade(
            event_ids=tuple(event.id for event in batch),
            outcome=verdict.outcome.value,
            status=verdict.status,
            ms=int((self._clock.monotonic_s() - self._progress.sent_at_s) * 1000),
        )


def _sight(event: LeasedEvent) -> Sight:
    """Who concludes, of whom."""
    return Sight(str(event.metadata.get(OBSERVER, event.peer)), event.peer)


def _outgoing(event: LeasedEvent) -> Outgoing:
    own: dict[str, object] = {OWN_ID: event.honchod_id, "honchod_message": event.message_id}
    if event.parts > 1:
        own |= {"honchod_part": event.part + 1, "honchod_parts": event.parts}
    return Outgoing(event.peer, event.content, {**event.metadata, **own}, event.created_at_ms)

"""Honcho in memory, with the gateway's interface: what the next calls end in is scripted."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from honchod.errors import CallFailed, CallReason
from honchod.gateway.gateway import OWN_ID
from honchod.gateway.values import Endpoint, Member, Outgoing, Setup, Sight

LATENCY_S = 0.05
REQUEST_TIMEOUT_S = 30.0


class Fate(Enum):
    """What becomes of one call."""

    GOOD = auto()
    THROTTLED = auto()
    THROTTLED_503 = auto()
    UNREACHABLE = auto()
    DOWN_503 = auto()
    REFUSED = auto()
    MISDIRECTED = auto()
    FAILED_500 = auto()
    FAILED_500_AFTER_COMMIT = auto()
    CONFLICT_409 = auto()
    PROXY_502 = auto()
    PROXY_502_AFTER_COMMIT = auto()
    CUT = auto()
    CUT_AFTER_COMMIT = auto()
    CUT_COMMIT_LATE = auto()
    TIMEOUT = auto()
    TIMEOUT_AFTER_COMMIT = auto()
    TIMEOUT_COMMIT_LATE = auto()
    PORTAL = auto()


LATE_S = 13.0
"""How long after it was sent a batch may still land; less than the settle delay."""
_AFTER_COMMIT = {
    Fate.FAILED_500_AFTER_COMMIT,
    Fate.PROXY_502_AFTER_COMMIT,
    Fate.CUT_AFTER_COMMIT,
    Fate.TIMEOUT_AFTER_COMMIT,
}
_LATE = {Fate.CUT_COMMIT_LATE, Fate.TIMEOUT_COMMIT_LATE}
_SLOW = {Fate.TIMEOUT, Fate.TIMEOUT_AFTER_COMMIT, Fate.TIMEOUT_COMMIT_LATE}
_STATUS = {
    Fate.REFUSED: 401,
    Fate.MISDIRECTED: 404,
    Fate.FAILED_500: 500,
    Fate.FAILED_500_AFTER_COMMIT: 500,
    Fate.CONFLICT_409: 409,
    Fate.PROXY_502: 502,
    Fate.PROXY_502_AFTER_COMMIT: 502,
    Fate.DOWN_503: 503,
}
_REASON = {
    Fate.UNREACHABLE: CallReason.UNREACHABLE,
    Fate.CUT: CallReason.CUT,
    Fate.CUT_AFTER_COMMIT: CallReason.CUT,
    Fate.CUT_COMMIT_LATE: CallReason.CUT,
    Fate.TIMEOUT: CallReason.TIMEOUT,
    Fate.TIMEOUT_AFTER_COMMIT: CallReason.TIMEOUT,
    Fate.TIMEOUT_COMMIT_LATE: CallReason.TIMEOUT,
}
POISON = "poison"
"""A message with this in it makes the server answer 500 for ever; ``bad`` is refused with 422."""
BAD = "bad"


@dataclass
class Remote:
    """The server: what each session holds, in order, and what it saw."""

    sessions: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Of each session, (our id, content)."""
    members: dict[str, dict[str, Member]] = field(default_factory=dict)
    script: deque[Fate] = field(default_factory=deque)
    weather: Fate = Fate.GOOD
    """What happens when the script is at its end."""
    lonely_failures: Counter[str] = field(default_factory=Counter)
    """Of each of our ids, how often it was sent alone and got no good answer."""
    sends: list[tuple[float, str, int]] = field(default_factory=list)
    """When, to which session, how many."""
    calls: int = 0
    faults: list[str] = field(default_factory=list)
    """What no client may ever do, as far as it was seen."""
    landing: list[asyncio.Task[None]] = field(default_factory=list)

    def next_fate(self) -> Fate:
        return self.script.popleft() if self.script else self.weather

    def store(self, session: str, batch: Sequence[Outgoing]) -> tuple[str, ...]:
        held = self.sessions.setdefault(session, [])
        first = len(held)
        for message in batch:
            own = str(message.metadata[OWN_ID])
            if any(own == other for other, _ in held):
                self.faults.append(f"{own} is stored twice in {session}")
            held.append((own, message.content))
        return tuple(f"{session}/{place}" for place in range(first, len(held)))


class ScriptedGateway:
    """The calls of one workspace. A session's requests are watched: there may be one at a time."""

    def __init__(self, remote: Remote, *, retry_after_s: float) -> None:
        self._remote = remote
        self._retry_after_s = retry_after_s
        self._busy: set[str] = set()
        self.requests = 0
        self.conclusions = ScriptedConclusions(self)

    async def close(self) -> None:
        return None

    async def ask(self) -> None:
        await self._call("", None)

    async def prepare(self, session: str, members: Sequence[Member], scope: str | None) -> Setup:
        await self._call(session, None)
        known = self._remote.members.setdefault(session, {})
        created = not known
        for member in members:
            known.setdefault(member.peer, member)
        return Setup(created=created, scope=scope)

    async def send(self, session: str, batch: Sequence[Outgoing]) -> tuple[str, ...]:
        """Store messages. Who speaks must have joined the session."""
        missing = {message.peer for message in batch} - set(self._remote.members.get(session, {}))
        if missing:
            self._remote.faults.append(f"{missing} spoke in {session} before joining it")
        return await self.hand_over(session, batch)

    async def hand_over(self, session: str, batch: Sequence[Outgoing]) -> tuple[str, ...]:
        """Store these. Returns their ids."""
        self._remote.sends.append((asyncio.get_running_loop().time(), session, len(batch)))
        try:
            return await self._call(session, batch)
        except CallFailed:
            if len(batch) == 1:
                self._remote.lonely_failures[str(batch[0].metadata[OWN_ID])] += 1
            raise

    async def find(self, session: str, ids: Sequence[str]) -> dict[str, str]:
        await self._call(session, None)
        held = self._remote.sessions.get(session, [])
        return {own: f"{session}/{place}" for place, (own, _) in enumerate(held) if own in ids}

    async def _call(self, session: str, batch: Sequence[Outgoing] | None) -> tuple[str, ...]:
        remote = self._remote
        if session in self._busy:
            remote.faults.append(f"two requests at once in {session}")
        remote.calls += 1
        self.requests += 1
        self._busy.add(session)
        try:
            return await self._answer(session, batch, remote.next_fate())
        finally:
            self._busy.discard(session)

    async def _answer(self, session: str, batch: Sequence[Outgoing] | None, fate: Fate) -> tuple[str, ...]:
        remote = self._remote
        if fate is Fate.UNREACHABLE:
            raise CallFailed(CallReason.UNREACHABLE)
        await asyncio.sleep(LATENCY_S)
        stored: tuple[str, ...] = ()
        if batch is not None and (fate is Fate.GOOD or fate in _AFTER_COMMIT):
            self._refuse_bad(batch)
            stored = remote.store(session, batch)
        if batch is not None and fate in _LATE:
            remote.landing.append(asyncio.create_task(self._land(session, batch)))
        await asyncio.sleep(REQUEST_TIMEOUT_S - LATENCY_S if fate in _SLOW else LATENCY_S)
        if fate is Fate.GOOD:
            return stored
        if fate in (Fate.THROTTLED, Fate.THROTTLED_503):
            status = 429 if fate is Fate.THROTTLED else 503
            raise CallFailed(CallReason.STATUS, status=status, retry_after=str(int(self._retry_after_s)))
        if fate is Fate.PORTAL:
            raise CallFailed(CallReason.NOT_HONCHO, status=200)
        if fate in _REASON:
            raise CallFailed(_REASON[fate])
        raise CallFailed(CallReason.STATUS, status=_STATUS[fate])

    async def _land(self, session: str, batch: Sequence[Outgoing]) -> None:
        await asyncio.sleep(LATE_S)
        if not any(POISON in message.content or BAD in message.content for message in batch):
            self._remote.store(session, batch)

    def _refuse_bad(self, batch: Sequence[Outgoing]) -> None:
        if any(BAD in message.content for message in batch):
            raise CallFailed(CallReason.STATUS, status=422)
        if any(POISON in message.content for message in batch):
            raise CallFailed(CallReason.STATUS, status=500)


class ScriptedConclusions:
    """Conclusions stand among the messages of their session; they are known by what they say."""

    def __init__(self, gateway: ScriptedGateway) -> None:
        self._gateway = gateway

    async def conclude(self, sight: Sight, session: str, content: str) -> str:
        said = Outgoing(sight.target, content, {OWN_ID: own_id(content)}, 0)
        (remote_id,) = await self._gateway.hand_over(session, [said])
        return remote_id

    async def find(self, _sight: Sight, session: str, content: str) -> str | None:
        own = own_id(content)
        return (await self._gateway.find(session, [own])).get(own)


def own_id(conclusion: str) -> str:
    """The server has no metadata of ours with a conclusion: one that says the same is the same."""
    return f"conclusion: {conclusion}"


class ScriptedPool:
    """Gives every destination and workspace its gateway to the same remote."""

    def __init__(self, remote: Remote, *, retry_after_s: float = 20.0) -> None:
        self._remote = remote
        self._retry_after_s = retry_after_s
        self._gateways: dict[tuple[str, str], ScriptedGateway] = {}

    def load(self) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    async def get(self, destination: str, endpoint: Endpoint) -> ScriptedGateway:
        key = (destination, endpoint.workspace)
        gateway = self._gateways.get(key)
        if gateway is None:
            gateway = ScriptedGateway(self._remote, retry_after_s=self._retry_after_s)
            self._gateways[key] = gateway
        return gateway

    async def keep_only(self, destinations: Collection[str]) -> None:
        for key in [key for key in self._gateways if key[0] not in destinations]:
            del self._gateways[key]

    async def close(self) -> None:
        self._gateways.clear()

    @property
    def requests(self) -> int:
        return sum(gateway.requests for gateway in self._gateways.values())

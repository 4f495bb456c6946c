"""What a run does, decided by its seed alone. Pure: no clock, no process.

Each actor has a random source of its own, so that the decisions of one do not depend on how fast another is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random


@dataclass(frozen=True)
class Options:
    """How long and how hard: the run ends when messages and kills are reached, or the minutes are over."""

    seed: int
    minutes: float = 20.0
    messages: int = 10_000
    kills: int = 100
    writers: int = 4
    sessions_per_writer: int = 5


class Intent(StrEnum):
    """What a writer wants to come of a message."""

    KEPT = "kept"
    """Acknowledged, sooner or later: the writer repeats it until it is."""
    REFUSED = "refused"
    """It breaks a rule of the API, so it must be refused and never arrive."""
    DROPPED = "dropped"
    """The writer gives up after one try: it may arrive, at most once."""


@dataclass(frozen=True)
class Line:
    """One message to write. ``parts`` is how many pieces it becomes."""

    id: str
    content: str
    metadata: dict[str, object] | None = None


@dataclass(frozen=True)
class Request:
    """Lines that are written together, all or nothing."""

    session: str
    intent: Intent
    lines: tuple[Line, ...]


LONG_CHARS = 60_000
"""Longer than Honcho takes at once: it is cut into pieces."""


def sessions(options: Options, writer: int) -> tuple[str, ...]:
    """The sessions of one writer. No other writes to them, so their order is known."""
    return tuple(f"w{writer}-s{number}" for number in range(options.sessions_per_writer))


def requests(options: Options, writer: int) -> Iterator[Request]:
    """Everything this writer has to say, without end."""
    chance = Random(f"{options.seed}/writer/{writer}")
    own = sessions(options, writer)
    number = 0
    while True:
        session = chance.choice(own)
        intent = chance.choices(list(Intent), weights=(94, 3, 3))[0]
        lines = []
        for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5, 20))):
            number += 1
            name = f"{session}-{number}"
            content = f"{intent.value} {name} " + "word " * chance.choice((0, 0, 4, 40, 400))
            if chance.random() < 0.002:
                content = f"{name} " + "long words " * (LONG_CHARS // 11)
            lines.append(Line(name, content))
        if intent is Intent.REFUSED:
            lines[-1] = Line(lines[-1].id, lines[-1].content, {"honchod_id": "*"})
        yield Request(session, intent, tuple(lines))


@dataclass(frozen=True)
class Weather:
    """What is wrong with the server for ``lasts_s``: fault rules, or a restart."""

    name: str
    spec: str
    lasts_s: float
    restarts: bool = False
    clears_up: bool = False
    """The operator has the daemon try at once when it is over (a refused key waits for minutes)."""


_WEATHERS = (
    ("calm", ""),
    ("calm", ""),
    ("cut before commit", "POST messages: cut-before-commit p=0.4 seed={seed}"),
    ("cut after commit", "POST messages: cut-after-commit p=0.4 seed={seed}"),
    ("cut after commit, everywhere", "*: cut-after-commit p=0.2 seed={seed}"),
    ("half an answer", "POST messages: partial p=0.4 seed={seed}"),
    ("hang", "POST messages: hang p=0.2 seed={seed}"),
    ("hang after commit", "POST messages: hang-after-commit p=0.2 seed={seed}"),
    ("late commit", "POST messages: commit-late=0.3 p=0.2 seed={seed}"),
    ("cut, then a late commit", "POST messages: cut-commit-late=0.3 p=0.3 seed={seed}"),
    ("slow", "*: delay=0.3 p=0.5 seed={seed}"),
    ("429", "*: status=429 retry-after=1 p=0.3 seed={seed}"),
    ("500", "POST messages: status=500 p=0.4 seed={seed}"),
    ("500 after commit", "POST messages: status-after-commit=500 p=0.4 seed={seed}"),
    ("502 after commit", "POST messages: status-after-commit=502 p=0.4 seed={seed}"),
    ("503", "*: status=503 p=0.4 seed={seed}"),
    ("503 with Retry-After", "*: status=503 retry-after=1 p=0.4 seed={seed}"),
    ("404", "*: status=404 p=0.5 seed={seed}"),
    ("a login page", "*: portal p=0.5 seed={seed}"),
    ("refused connections", "*: down=1 times=1"),
)


def weather(options: Options) -> Iterator[Weather]:
    """What happens to the server, one thing after the other."""
    chance = Random(f"{options.seed}/weather")
    while True:
        lasts_s = chance.uniform(0.5, 3.0)
        roll = chance.random()
        if roll < 0.08:
            yield Weather("401", "*: status=401", lasts_s, clears_up=True)
        elif roll < 0.16:
            yield Weather("restart", "", lasts_s, restarts=True)
        else:
            name, spec = chance.choice(_WEATHERS)
            yield Weather(name, spec.format(seed=chance.randrange(1 << 30)), lasts_s)


class Blow(StrEnum):
    """What is done to the daemon."""

    KILL = "SIGKILL"
    KILL_STARTING = "SIGKILL while starting"
    TERM = "SIGTERM"
    STOP = "SIGSTOP"

    @property
    def kills(self) -> bool:
        """Whether it gives the daemon no time to do anything."""
        return self in (Blow.KILL, Blow.KILL_STARTING)


@dataclass(frozen=True)
class Attack:
    """``after_s`` is how long the daemon is left alone first; ``lasts_s`` how long it is stopped."""

    blow: Blow
    after_s: float
    lasts_s: float = 0.0


def attacks(options: Options) -> Iterator[Attack]:
    """What happens to the daemon, one thing after the other."""
    chance = Random(f"{options.seed}/killer")
    while True:
        blow = chance.choices(list(Blow), weights=(60, 15, 15, 10))[0]
        match blow:
            case Blow.KILL_STARTING:
                yield Attack(blow, chance.uniform(0.05, 1.5))
            case Blow.STOP:
                yield Attack(blow, chance.uniform(0.2, 2.0), chance.uniform(0.3, 3.0))
            case _:
                yield Attack(blow, chance.uniform(0.2, 2.5))

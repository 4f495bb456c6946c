"""Faults on demand: which request is hit, and by what.

A rule says when it applies (method, path, workspace, session, content, and how often), whether the
request takes effect (``Commit``) and what the client gets (``Reply``). Every trouble is one of these
pairs: a connection cut after the commit is ``NOW`` with ``CUT``, a lost answer whose rows appear later is
``LATE`` with ``HANG``, a captive portal is ``NONE`` with ``STATUS`` 200 and a page.

The textual form is in ``fault_spec.py``; over the control API a rule is a JSON object with these fields.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from msgspec import Struct


class Commit(Enum):
    """Whether and when a request takes effect."""

    NONE = "none"
    NOW = "now"
    LATE = "late"
    """``late_s`` after the client has gone."""


class Reply(Enum):
    """What the client gets."""

    REAL = "real"
    STATUS = "status"
    """``status`` with ``headers`` and ``body``."""
    HANG = "hang"
    """Nothing, until the client goes."""
    CUT = "cut"
    """The end of the connection instead of an answer."""
    PARTIAL = "partial"
    """Headers and half of the body, then the end of the connection."""


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault. What is left out does not restrict."""

    method: str = ""
    path: str = ""
    """A regular expression for the end of the path, from a slash on: ``messages``, ``peers/.*/chat``."""
    workspace: str = ""
    session: str = ""
    content: str = ""
    """A part of the body."""

    nth: int = 0
    """Only the nth request that fits, counted from 1."""
    times: int = 0
    """At most this many requests."""
    probability: float = 1.0
    seed: int = 0
    for_s: float = 0.0
    """For this long from when the rule was set."""

    commit: Commit = Commit.NOW
    reply: Reply = Reply.REAL
    status: int = 500
    headers: dict[str, str] = {}
    body: str = ""
    content_type: str = "application/json"
    delay_s: float = 0.0
    """Wait before anything happens."""
    delay_after_s: float = 0.0
    """Wait between the commit and the answer."""
    late_s: float = 0.0
    down_s: float = 0.0
    """Close the listener for this long: connection refused."""
    llm_down: bool = False
    """No model answers this request."""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a pattern that is none, or a chance that is none."""
        try:
            re.compile(self.path)
        except re.error as error:
            raise ValueError(f"path is not a regular expression: {error}") from None
        if not 0 <= self.probability <= 1:
            raise ValueError("probability is between 0 and 1")

    def name(self) -> str:
        """What happens, in two words, for the request log."""
        if self.down_s:
            return "down"
        if self.reply is Reply.REAL:
            return "llm-down" if self.llm_down else "delay"
        kind = f"status-{self.status}" if self.reply is Reply.STATUS else self.reply.value
        return f"{kind} commit-{self.commit.value}"


@dataclass(frozen=True, slots=True)
class Target:
    """What a rule looks at in a request."""

    method: str
    path: str
    workspace: str
    session: str
    content: str


def fits(rule: Rule, target: Target) -> bool:
    """Whether the rule is about this request."""
    return (
        rule.method in ("", target.method)
        and (not rule.path or re.search(rf"(?:^|/)(?:{rule.path})$", target.path) is not None)
        and rule.workspace in ("", target.workspace)
        and rule.session in ("", target.session)
        and rule.content in target.content
    )


@dataclass(slots=True)
class _Standing:
    """A rule that is set, with what it counted so far."""

    rule: Rule
    set_at_s: float
    chance: random.Random
    fitted: int = 0
    fired: int = 0

    def fires(self, now_s: float) -> bool:
        """Count a request that fits, and say whether it is hit."""
        rule = self.rule
        if rule.for_s and now_s - self.set_at_s > rule.for_s:
            return False
        self.fitted += 1
        if rule.nth and self.fitted != rule.nth:
            return False
        if rule.times and self.fired >= rule.times:
            return False
        if rule.probability < 1 and self.chance.random() >= rule.probability:
            return False
        self.fired += 1
        return True


@dataclass(slots=True)
class FaultBook:
    """The rules that are set. Of those that fit a request, the first one that fires hits it."""

    _standing: list[_Standing] = field(default_factory=list)

    def add(self, rules: Sequence[Rule], now_s: float) -> None:
        """Set further rules, behind those that are set."""
        for rule in rules:
            self._standing.append(_Standing(rule, now_s, random.Random(rule.seed)))  # noqa: S311

    def clear(self) -> None:
        """Unset every rule."""
        self._standing.clear()

    def pick(self, target: Target, now_s: float) -> Rule | None:
        """The rule that hits this request."""
        for standing in self._standing:
            if fits(standing.rule, target) and standing.fires(now_s):
                return standing.rule
        return None

    def fired(self) -> list[tuple[Rule, int]]:
        """Every rule with how many requests it has hit."""
        return [(standing.rule, standing.fired) for standing in self._standing]

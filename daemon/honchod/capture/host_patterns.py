"""What each agent runtime itself writes into a conversation, read from ``patterns/<runtime>.toml``.

A file holds ``[[strip]]`` rules (metadata around what a person said) and ``[[drop]]`` rules (whole turns
that nobody said). Every rule is anchored at the start or the end of a message, so a sentence that merely
mentions a marker is kept.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path

_DIRECTORY = Path(__file__).parent / "patterns"
_COMMON = "common"
_ANYONE_BUT = "import"


class Anchor(Enum):
    """Where in a message a rule holds."""

    START = "start"
    END = "end"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class StripBlock:
    """Takes out a block from ``opening`` to ``closing`` that begins or ends the message."""

    at: Anchor
    opening: str
    closing: str
    by: str | None

    def apply(self, text: str) -> str:
        """``text`` without the block; the same text where there is none."""
        if self.at is Anchor.START:
            body = text.lstrip()
            end = body.find(self.closing, len(self.opening)) if body.startswith(self.opening) else -1
            return text if end < 0 else body[end + len(self.closing) :].lstrip()
        body = text.rstrip()
        start = body.rfind(self.opening) if body.endswith(self.closing) else -1
        stands_alone = start == 0 or (start > 0 and body[start - 1] == "\n")
        return body[:start].rstrip() if stands_alone else text


@dataclass(frozen=True, slots=True)
class StripPattern:
    """Takes out what ``pattern`` matches at the start or the end of the message."""

    at: Anchor
    pattern: re.Pattern[str]
    by: str | None

    def apply(self, text: str) -> str:
        """``text`` without the match; the same text where there is none."""
        if self.at is Anchor.START:
            match = self.pattern.match(text)
            return text if match is None else text[match.end() :]
        match = self.pattern.search(text)
        return text if match is None else text[: match.start()].rstrip()


@dataclass(frozen=True, slots=True)
class Drop:
    """A turn that matches is the runtime's own. ``pattern`` is anchored already."""

    pattern: re.Pattern[str]
    by: str | None


@dataclass(frozen=True, slots=True)
class HostPatterns:
    """The rules of one runtime, those that hold for every runtime included."""

    strip: tuple[StripBlock | StripPattern, ...]
    drop: tuple[Drop, ...]


def concerns(by: str | None, author: str) -> bool:
    """Whether a rule for ``by`` (``None``: everyone) holds for ``author``. Imports are never filtered."""
    return author == by if by is not None else author != _ANYONE_BUT


def runtime_of(host: str) -> str | None:
    """The runtime that a host's name begins with: ``hermes_coder`` and ``hermes`` are both ``hermes``."""
    name = re.sub(r"[^a-z0-9]+", "_", host.lower())
    return next((stem for stem in _runtimes() if (name + "_").startswith(stem + "_")), None)


def patterns_for(host: str) -> HostPatterns:
    """The rules for a host; only the common ones where its runtime is not known."""
    return _load(runtime_of(host))


@lru_cache(maxsize=1)
def _runtimes() -> tuple[str, ...]:
    """The runtimes that have a file, the longest name first."""
    stems = {path.stem for path in _DIRECTORY.glob("*.toml")} - {_COMMON}
    return tuple(sorted(stems, key=lambda stem: (-len(stem), stem)))


@lru_cache(maxsize=32)
def _load(runtime: str | None) -> HostPatterns:
    strip: list[StripBlock | StripPattern] = []
    drop: list[Drop] = []
    for stem in (_COMMON, runtime):
        if stem is None:
            continue
        rules = tomllib.loads((_DIRECTORY / f"{stem}.toml").read_text("utf-8"))
        strip += map(_strip_rule, rules.get("strip", ()))
        drop += map(_drop_rule, rules.get("drop", ()))
    return HostPatterns(tuple(strip), tuple(drop))


def _strip_rule(rule: dict[str, str]) -> StripBlock | StripPattern:
    at = Anchor(rule["at"])
    if "opening" in rule:
        return StripBlock(at, rule["opening"], rule["closing"], rule.get("by"))
    body = rule["pattern"]
    anchored = rf"\s*(?:{body})\s*" if at is Anchor.START else rf"(?:{body})\s*\Z"
    return StripPattern(at, re.compile(anchored), rule.get("by"))


def _drop_rule(rule: dict[str, str]) -> Drop:
    end = r"\s*\Z" if Anchor(rule["at"]) is Anchor.WHOLE else ""
    return Drop(re.compile(rf"\s*(?:{rule['pattern']}){end}"), rule.get("by"))

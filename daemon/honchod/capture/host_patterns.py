"""What each agent runtime itself writes into a conversation, read from ``patterns/<runtime>.toml``.

A file holds ``[[strip]]`` rules (metadata around what a person said) and ``[[drop]]`` rules (whole turns
that nobody said). Every rule is anchored at the start or the end of a message, so a sentence that merely
mentions a marker is kept.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
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

    @property
    def begins(self) -> str:
        """A regular expression for what its block begins with."""
        return re.escape(self.opening)

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
    """Takes out what ``pattern`` matches at the start or the end of the message.

    ``begins`` is the regular expression itself, anchored nowhere.
    """

    at: Anchor
    begins: str
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
    """A turn that matches ``pattern``, a regular expression, at its start is the runtime's own."""

    pattern: str
    by: str | None


@dataclass(frozen=True, slots=True)
class AuthorRules:
    """The rules that hold for one author. Where there are none of a kind, its pattern is None."""

    strip: tuple[StripBlock | StripPattern, ...]
    opening: re.Pattern[str] | None
    """Matches at the start of every message that one of the rules for a start holds for."""
    closing: tuple[StripBlock | StripPattern, ...]
    """The rules for an end."""
    drop: re.Pattern[str] | None

    def may_strip(self, text: str) -> bool:
        """Whether a rule may take something off ``text``; False is certain."""
        if self.opening is not None and self.opening.match(text):
            return True
        return bool(self.closing) and any(rule.apply(text) != text for rule in self.closing)


class HostPatterns:
    """The rules of one runtime, those that hold for every runtime included."""

    def __init__(self, strip: tuple[StripBlock | StripPattern, ...], drop: tuple[Drop, ...]) -> None:
        self.strip = strip
        self.drop = drop
        self._by_author: dict[str, AuthorRules] = {}

    def of(self, author: str) -> AuthorRules:
        """The rules that hold for ``author``, one of the API's."""
        rules = self._by_author.get(author)
        if rules is None:
            strip = tuple(rule for rule in self.strip if concerns(rule.by, author))
            rules = self._by_author[author] = AuthorRules(
                strip=strip,
                opening=_any_of([rule.begins for rule in strip if rule.at is Anchor.START]),
                closing=tuple(rule for rule in strip if rule.at is Anchor.END),
                drop=_any_of([rule.pattern for rule in self.drop if concerns(rule.by, author)]),
            )
        return rules


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
    return StripPattern(at, body, re.compile(anchored), rule.get("by"))


def _drop_rule(rule: dict[str, str]) -> Drop:
    end = r"\s*\Z" if Anchor(rule["at"]) is Anchor.WHOLE else ""
    return Drop(rf"(?:{rule['pattern']}){end}", rule.get("by"))


def _any_of(patterns: Sequence[str]) -> re.Pattern[str] | None:
    """One pattern for all, white space before them left out of account."""
    return re.compile(rf"\s*(?:{'|'.join(patterns)})") if patterns else None

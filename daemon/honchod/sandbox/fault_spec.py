r"""The text form of fault rules.

``RULE; RULE; …`` with each rule ``WHICH: WHAT``. Words are separated by white space; one that holds a
space, ``;`` or ``:`` is put in double quotes.

WHICH is any of: ``*`` (all requests), a method in capitals, a path (a regular expression for its end, from
a slash on), ``workspace=ID``, ``session=ID``, ``content=TEXT``.

WHAT is one effect, if any:

- ``status=503``: that answer, and nothing is stored; with ``retry-after=30``, ``body=TEXT``
- ``status-after-commit=502``: stored, then that answer
- ``portal``: 200 with a page of HTML, nothing stored
- ``hang``: never answered, nothing stored; ``hang-after-commit``: stored, never answered
- ``cut-before-commit``, ``cut-after-commit``: the connection ends without an answer
- ``partial``: stored, then half of the answer
- ``commit-late=5``: never answered; stored 5 s after the client has gone
- ``cut-commit-late=5``: the connection ends at once; stored 5 s later
- ``down=10``: the connection ends, and for 10 s none is accepted
- ``llm-down``: no model: chat and search fail, a chat stream is empty, nothing is derived

and any of: ``delay=0.5`` (before), ``delay-after=0.5`` (after the commit), ``times=2``, ``nth=3``,
``p=0.05 seed=1``, ``for=10`` (seconds).

Examples::

    POST messages: cut-after-commit p=0.05 seed=1
    *: status=503 retry-after=30 times=2
    session=s content="bad one": status=422; *: delay=0.2
    POST peers/.*/chat: llm-down delay=13; messages/list: hang nth=1
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from .faults import Commit, Reply, Rule

_METHODS: Final = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"})
_PORTAL: Final = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please log in.</body></html>"

_Facts = dict[str, Any]

_FLAGS: Final[Mapping[str, _Facts]] = {
    "hang": {"commit": Commit.NONE, "reply": Reply.HANG},
    "hang-after-commit": {"commit": Commit.NOW, "reply": Reply.HANG},
    "cut-before-commit": {"commit": Commit.NONE, "reply": Reply.CUT},
    "cut-after-commit": {"commit": Commit.NOW, "reply": Reply.CUT},
    "partial": {"commit": Commit.NOW, "reply": Reply.PARTIAL},
    "llm-down": {"llm_down": True},
    "portal": {
        "commit": Commit.NONE,
        "reply": Reply.STATUS,
        "status": 200,
        "body": _PORTAL,
        "content_type": "text/html",
    },
}

_VALUES: Final[Mapping[str, Callable[[str], _Facts]]] = {
    "status": lambda text: {"commit": Commit.NONE, "reply": Reply.STATUS, "status": int(text)},
    "status-after-commit": lambda text: {"commit": Commit.NOW, "reply": Reply.STATUS, "status": int(text)},
    "commit-late": lambda text: {"commit": Commit.LATE, "reply": Reply.HANG, "late_s": float(text)},
    "cut-commit-late": lambda text: {"commit": Commit.LATE, "reply": Reply.CUT, "late_s": float(text)},
    "down": lambda text: {"commit": Commit.NONE, "reply": Reply.CUT, "down_s": float(text)},
    "retry-after": lambda text: {"headers": {"Retry-After": text}},
    "body": lambda text: {"body": text},
    "delay": lambda text: {"delay_s": float(text)},
    "delay-after": lambda text: {"delay_after_s": float(text)},
    "times": lambda text: {"times": int(text)},
    "nth": lambda text: {"nth": int(text)},
    "p": lambda text: {"probability": float(text)},
    "seed": lambda text: {"seed": int(text)},
    "for": lambda text: {"for_s": float(text)},
}

_RULE = re.compile(r'(?:[^;"]|"[^"]*")+')
_HALF = re.compile(r'(?:[^:"]|"[^"]*")+')
_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')


class SpecError(ValueError):
    """A fault specification cannot be read; the text names the word."""


def parse_faults(spec: str) -> list[Rule]:
    """The rules of a specification; raises ``SpecError``."""
    return [_rule(part.strip()) for part in _RULE.findall(spec) if part.strip()]


def _rule(text: str) -> Rule:
    halves = _HALF.findall(text)
    if len(halves) != 2:
        raise SpecError(f"a rule is WHICH: WHAT, not {text!r}")
    facts: _Facts = {}
    for word in _WORD.findall(halves[0]):
        facts |= _which(word.replace('"', ""))
    for word in _WORD.findall(halves[1]):
        facts |= _what(word.replace('"', ""))
    try:
        return Rule(**facts)
    except ValueError as error:
        raise SpecError(f"{error}, in {text!r}") from None


def _which(word: str) -> _Facts:
    if word == "*":
        return {}
    key, separator, value = word.partition("=")
    if separator and key in ("workspace", "session", "content"):
        return {key: value}
    return {"method": word} if word in _METHODS else {"path": word}


def _what(word: str) -> _Facts:
    key, separator, value = word.partition("=")
    if not separator and key in _FLAGS:
        return _FLAGS[key]
    if not separator or key not in _VALUES:
        raise SpecError(f"unknown effect {word!r}")
    try:
        return _VALUES[key](value)
    except ValueError:
        raise SpecError(f"{key} takes a number, not {value!r}") from None

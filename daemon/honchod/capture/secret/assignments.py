"""Secrets that a name in front of them gives away: assignments, flags, XML, name/value pairs, plain talk.

The search goes from one telling word (``pass``, ``token``, ``key``, …) to the next, takes the name around
it and looks at what follows. Whether the name promises a secret and the value is one is decided by
``names`` and ``values``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from honchod.capture.secret.names import ASCII_CLUES, CLUES, NameKind, name_kind
from honchod.capture.secret.spans import Haystack, Span
from honchod.capture.secret.values import Form, is_secret_value

_NAME_CHARS = 64
_NAME_RUN = re.compile(r"[\w.-]*")
_SECOND_WORDS = frozenset({"key", "token", "secret", "credential", "credentials"})

_SIGN = re.compile(
    r"(?: (?:key|token|phrase|code|word|secret|credentials?))?\\{0,3}[\"'`]?[*_]{0,2}"
    r"(?P<before>[ \t]{0,16})(?P<sign>:=|=>|->|={1,2}|[:：→])[*_]{0,2}(?P<after>[ \t]{0,16})"
)
_FLAG = re.compile(r"[ \t]{1,4}(?!-)")
_ELEMENT = re.compile(r"(?:\s[^<>]{0,200})?>")
_PAIR = re.compile(r"\\{0,3}[\"']?[\s,]{1,64}\\{0,3}[\"']?[Vv]alue\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}")
_PAIR_BEFORE = re.compile(r"(?:name|key)\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?\Z", re.IGNORECASE)
_NETRC_BEFORE = re.compile(r"\slogin\s{1,8}\S{1,128}\s{1,8}\Z")
_GAP = re.compile(r"\s{1,8}")
_COPULA = re.compile(
    r"(?: ?(?:phrase|code|word|key))?(?: (?:for|to|of|on|at) (?:(?:the|my|our|your) )?[\w.@-]{1,64})?"
    r"[ \t]{1,4}(?:is|was|to|are|will be|as)(?: now)?[ \t]{0,4}:?[ \t]{1,4}"
)
_VALUE_CHARS = 256
"""As much of a value is looked at to decide; what is hidden goes on to its end."""


def _value_pattern(length: str) -> re.Pattern[str]:
    # After \" the value ends at the next backslash or quote: it is JSON inside a string.
    return re.compile(
        rf"\\{{1,3}}[\"'](?P<inner>[^\"'\\\n]{length})"
        rf'|"(?P<double>(?:[^"\\\n]|\\.){length})'
        rf"|'(?P<single>(?:[^'\\\n]|\\.){length})"
        rf"|`(?P<ticked>[^`\n]{length})"
        rf"|(?P<bare>[^\s\"'`]{length})"
    )


_VALUE = _value_pattern(f"{{1,{_VALUE_CHARS}}}")
_WHOLE_VALUE = _value_pattern("+")
_CONTENT = re.compile(r"(?P<content>[^<>\n]{1,1024})</")

_NEXT_COMMAND = re.compile(r"[;&|]+(?:\Z|[A-Za-z_][\w. -]{0,63}=)|&&|\|\|")
_NEXT_ARGUMENT = re.compile(r",(?:\s*\Z|\s*[\"']?[A-Za-z_][\w-]*[\"']?\s*[=:])")
_END_OF_ARGUMENT = re.compile(r"[\"'`]?[ \t]*(?:\Z|\n|\\|[|;&]|-)")
_REST_OF_LINE = re.compile(r"[ \t]*(?:[#,;)}\]\"'`*]|//|\r|\n|\\[nr]|\Z)")


@dataclass(frozen=True, slots=True)
class _Name:
    start: int
    end: int
    kind: NameKind


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    is_quoted: bool
    is_cut_off: bool
    """There is more of it than was looked at."""


def find_assigned(haystack: Haystack) -> Iterator[Span]:
    """Spans of values whose names promise a secret."""
    done = 0
    for clue_at in _clues(haystack):
        if clue_at < done:
            continue
        name = _name_around(haystack.text, clue_at)
        if name is None:
            continue
        done = name.end
        span = _value_of(haystack.text, name)
        if span is not None:
            done = span.end
            yield span


def _clues(haystack: Haystack) -> list[int]:
    """Where telling words stand, from left to right."""
    lowered = haystack.lowered
    places: list[int] = []
    clues = ASCII_CLUES if lowered.isascii() else CLUES
    # Asking whether it is there costs a third of asking where.
    for clue in filter(lowered.__contains__, clues):
        at = lowered.find(clue)
        while at >= 0:
            places.append(at)
            at = lowered.find(clue, at + len(clue))
    return sorted(places)


def _name_around(text: str, at: int) -> _Name | None:
    """The name that the telling word at ``at`` belongs to, if it promises a secret."""
    before = text[max(0, at - _NAME_CHARS) : at]
    start = at - _run_length(before[::-1])
    end = at + _run_length(text[at : at + _NAME_CHARS])
    while start < end and text[start] in ".-":
        start += 1
    while end > start and text[end - 1] in ".-":
        end -= 1
    name = text[start:end]
    kind = name_kind(name)
    if kind is None or kind is NameKind.PASS:
        kind = _kind_with_neighbour(text, name, start, end) or kind
    return None if kind is None else _Name(start, end, kind)


def _run_length(text: str) -> int:
    match = _NAME_RUN.match(text)
    return 0 if match is None else match.end()


def _kind_with_neighbour(text: str, name: str, start: int, end: int) -> NameKind | None:
    """``API key``, ``seed phrase``, ``pass word``: two words that promise together."""
    if name.lower() in _SECOND_WORDS:
        words = text[max(0, start - 24) : start].split()
        return name_kind(f"{words[-1]}_{name}") if words else None
    following = text[end : end + 12].split()
    return name_kind(f"{name}_{following[0].strip(':=')}") if following and text[end] == " " else None


def _value_of(text: str, name: _Name) -> Span | None:
    if (sign := _SIGN.match(text, name.end)) is not None:
        return _assigned(text, name, sign)
    opener = text[name.start - 1] if name.start else ""
    before = text[max(0, name.start - 160) : name.start]
    if opener == "<" and (element := _ELEMENT.match(text, name.end)) is not None:
        content = _CONTENT.match(text, element.end())
        if content is None or not is_secret_value(content["content"], name.kind, Form.QUOTED):
            return None
        return Span(*content.span("content"), name.kind.value)
    if opener == "-" and (flag := _FLAG.match(text, name.end)) is not None:
        return _judged(text, name.kind, flag.end(), lambda value: _form_of_flag(text, value))
    if (pair := _PAIR.match(text, name.end)) is not None and _PAIR_BEFORE.search(before[-24:]):
        return _named(text, name.kind, pair.end(), Form.QUOTED)
    if (copula := _COPULA.match(text, name.end)) is not None:
        return _named(text, name.kind, copula.end(), Form.PROSE)
    if (gap := _GAP.match(text, name.end)) is not None:
        form = Form.SHELL if _NETRC_BEFORE.search(before) else Form.BESIDE
        return _named(text, name.kind, gap.end(), form)
    return None


def _assigned(text: str, name: _Name, sign: re.Match[str]) -> Span | None:
    is_equation = "=" in sign["sign"]
    is_spaced = bool(sign["before"] or sign["after"])

    def form_of(value: _Value) -> Form:
        if value.is_quoted:
            return Form.QUOTED
        if not is_equation:
            return Form.LINE if _REST_OF_LINE.match(text, value.end) else Form.PROSE
        if is_spaced:
            return Form.SPACED
        is_flag = text[max(0, name.start - 2) : name.start] == "--"
        return Form.SHELL if is_flag or text[name.start : name.end].isupper() else Form.TIGHT

    return _judged(text, name.kind, sign.end(), form_of, is_equation=is_equation)


def _form_of_flag(text: str, value: _Value) -> Form:
    """At the end of the command or before the next flag it is an argument, else a sentence goes on."""
    return Form.SHELL if _END_OF_ARGUMENT.match(text, value.end) else Form.PROSE


def _named(text: str, kind: NameKind, at: int, form: Form) -> Span | None:
    return _judged(text, kind, at, lambda _: form)


def _judged(
    text: str, kind: NameKind, at: int, form_of: Callable[[_Value], Form], *, is_equation: bool = False
) -> Span | None:
    """The span of the value at ``at``, if it is a secret."""
    value = _value_at(_VALUE, text, at, is_equation=is_equation)
    if value is None or not is_secret_value(text[value.start : value.end], kind, form_of(value)):
        return None
    if value.is_cut_off:
        value = _value_at(_WHOLE_VALUE, text, at, is_equation=is_equation) or value
    return Span(value.start, value.end, kind.value)


def _value_at(pattern: re.Pattern[str], text: str, at: int, *, is_equation: bool) -> _Value | None:
    """The value at ``at``, without what only closes the sentence, the call or the object around it."""
    match = pattern.match(text, at)
    if match is None:
        return None
    group = match.lastgroup or "bare"
    start, value = match.start(group), match[group]
    is_cut_off = len(value) >= _VALUE_CHARS
    if group != "bare":
        return _Value(start, start + len(value.rstrip("\\")), is_quoted=True, is_cut_off=is_cut_off)
    if is_equation:
        value = _NEXT_COMMAND.split(value, maxsplit=1)[0]
    value = _NEXT_ARGUMENT.split(value.partition("\\n")[0], maxsplit=1)[0]
    value = value.rstrip(",;")
    for opening, closing in ("()", "[]", "{}"):
        if opening not in value:
            value = value.rstrip(closing + ",;")
    if not is_equation:
        value = value.rstrip("*.!?")
    return _Value(start, start + len(value), is_quoted=False, is_cut_off=is_cut_off)

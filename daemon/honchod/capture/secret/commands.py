"""Passwords in the arguments of well-known commands: ``mysql -pSECRET``, ``curl -u user:SECRET``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from honchod.capture.secret.names import NameKind
from honchod.capture.secret.spans import Haystack, Span
from honchod.capture.secret.values import Form, is_secret_value

_ARGUMENTS = r"[^\n|;&]{0,160}?[ \t]"
_PASSWORD = r"(?P<secret>[^\s\"'|;&]{3,128})"  # noqa: S105


@dataclass(frozen=True, slots=True)
class _Command:
    name: str
    arguments: re.Pattern[str]


_MYSQL = re.compile(rf"(?:dump|admin|-dump|-admin)?\b{_ARGUMENTS}-p[\"']?{_PASSWORD}")
_USER = r"(?:-u|--user)[ =]?[ \t]{0,4}[\"']?[^\s:\"']{1,64}:"
_USER_AND_PASSWORD = re.compile(rf"\b{_ARGUMENTS}{_USER}{_PASSWORD}")
_PASSWORD_FLAG = re.compile(rf"\b{_ARGUMENTS}-[pa][ \t]{{0,4}}[\"']?(?!-){_PASSWORD}")

_COMMANDS = (
    _Command("mysql", _MYSQL),
    _Command("mariadb", _MYSQL),
    _Command("curl", _USER_AND_PASSWORD),
    _Command("sshpass", _PASSWORD_FLAG),
    _Command("docker login", _PASSWORD_FLAG),
    _Command("redis-cli", _PASSWORD_FLAG),
)
HINTS = tuple(command.name for command in _COMMANDS)
"""One of them is in every text that holds such a command line."""


def find_in_commands(haystack: Haystack) -> Iterator[Span]:
    """Spans of the passwords on such command lines. A number alone is a port or an id, not a password."""
    text = haystack.text
    for command in [command for command in _COMMANDS if command.name in text]:
        at = text.find(command.name)
        while at >= 0:
            after = at + len(command.name)
            match = command.arguments.match(text, after)
            if match is not None:
                after = match.end()
                secret = match["secret"]
                if not secret.isdecimal() and is_secret_value(secret, NameKind.PASSWORD, Form.TIGHT):
                    yield Span(*match.span("secret"), NameKind.PASSWORD.value)
            at = text.find(command.name, after)

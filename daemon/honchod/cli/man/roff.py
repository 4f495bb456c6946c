"""Text as man pages are written: the few requests of man(7) that they need."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LITERAL = re.compile(r"``([^`]+)``|`([^`]+)`")


def escape(text: str) -> str:
    """Text that roff takes for nothing else."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in escaped)
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def paragraph(text: str) -> str:
    """Running text. What stands in backquotes is bold."""
    words = " ".join(text.split())
    return _LITERAL.sub(lambda found: f"\\fB{found[1] or found[2]}\\fR", escape(words))


def quoted(text: str) -> str:
    """An argument of a request."""
    return '"' + escape(text).replace('"', "\\(dq") + '"'


def title(name: str, section: int, source: str, manual: str) -> str:
    """The head of a page."""
    return f".TH {quoted(name.upper())} {section} {quoted('')} {quoted(source)} {quoted(manual)}"


def section(name: str) -> str:
    """A section."""
    return f".SH {quoted(name)}"


def subsection(name: str) -> str:
    """A subsection."""
    return f".SS {quoted(name)}"


def term(name: str, meaning: Iterable[str]) -> list[str]:
    """A term in bold, and the lines that say what it means."""
    return [".TP", f"\\fB{escape(name)}\\fR", *meaning]


def verbatim(lines: Iterable[str]) -> list[str]:
    """Lines as they stand."""
    return [".PP", ".RS 4", ".nf", *(escape(line) for line in lines), ".fi", ".RE"]


def prose(text: str) -> list[str]:
    r"""Paragraphs as ``--help`` writes them: an empty line parts them, and ``\b`` keeps their lines apart."""
    found: list[str] = []
    for block in text.strip().split("\n\n"):
        lines = block.strip("\n").split("\n")
        if lines[0].strip() == "\b":
            found += verbatim(lines[1:])
        elif block.strip():
            found += [".PP", paragraph(block)]
    return found

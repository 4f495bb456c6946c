"""Text of others, made safe for a terminal and for line-wise reading. Standard library only."""

from __future__ import annotations


def printable(text: str) -> str:
    """``text`` with everything escaped that could move a cursor, change a colour or break a line."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)

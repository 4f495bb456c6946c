"""What a query found, put before what is known anyway. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_REMEMBERED: Final = 128
"""The same two are merged in every recall of a turn."""

_NUMBER: Final = re.compile(r"^\s*(?:\d{1,4}[.)]|[-*•])\s+")


@lru_cache(_REMEMBERED)
def merged(found: str, known: str) -> str:
    """The representation that a query found, followed by the lines of the other that it does not hold.

    What fits the query comes first, so that it is the last to be cut. A heading under which nothing is left
    goes with its lines.
    """
    if not found or not known:
        return found or known
    held = {_gist(line) for line in found.splitlines()}
    rest: list[str] = []
    heading: str | None = None
    for line in known.splitlines():
        if line.startswith("#"):
            heading = line
        elif line.strip() and _gist(line) not in held:
            if heading is not None:
                rest += ["", heading, ""]
                heading = None
            rest.append(line)
    return "\n".join([found, *rest]) if rest else found


def _gist(line: str) -> str:
    """A line without its number in a list: the same conclusion may stand at another place."""
    return _NUMBER.sub("", line).strip()

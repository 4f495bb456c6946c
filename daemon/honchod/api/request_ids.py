"""The name of a request, in its answer and in the log."""

from __future__ import annotations

import itertools
import re
import secrets

_SANE = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
_prefix = secrets.token_hex(6)
_numbers = itertools.count(1)


def request_id(given: str | None = None) -> str:
    """The caller's own ``X-Request-Id`` if it is harmless to repeat, else one that no other request has."""
    if given is not None and _SANE.fullmatch(given):
        return given
    return f"{_prefix}-{next(_numbers):x}"

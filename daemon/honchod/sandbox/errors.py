"""What the sandbox answers instead of a result.

::

    Refused            status and detail, as Honcho words them
    ├── Invalid          422 with a list of field errors
    └── Broken           500 "An unexpected error occurred": what the real server does not handle
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType


class FieldError(Struct, frozen=True):
    """One field that does not fit; ``loc`` leads to it, ``input`` echoes what was sent."""

    type: str
    loc: tuple[str | int, ...]
    msg: str
    input: Any
    ctx: dict[str, Any] | UnsetType = UNSET


class Refused(Exception):
    """The request is answered with ``status`` and ``{"detail": detail}``."""

    def __init__(self, status: int, detail: str | Sequence[FieldError]) -> None:
        super().__init__(status)
        self.status = status
        self.detail = detail


class Invalid(Refused):
    """The body or the query does not have the promised shape."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(422, tuple(errors))


class Broken(Refused):
    """An error the real server does not handle: 500, and the connection is closed unannounced."""

    def __init__(self) -> None:
        super().__init__(500, "An unexpected error occurred")
